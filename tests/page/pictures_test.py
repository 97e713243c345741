# SPDX-License-Identifier: BSD-2-Clause
"""The pictures of reports in docs/images look like those that are taken now.

usage: pictures_test.py CHROMIUM ROCE_ANALYZE ROCE_GEN [UNITTEST ARGUMENT...]
"""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests/support"))

from chromium import Chromium  # noqa: E402

# The share of 20 x 20 pixels whose mean colour differs by more than an eighth. Another font moves words, but neither plots nor lines of
# text.
DIFFERENCE = """(async (one, other) => {
  const load = data => new Promise((done, failed) => { const image = new Image(); image.onload = () => done(image); image.onerror = failed;
                                                      image.src = "data:image/png;base64," + data; });
  const images = [await load(one), await load(other)];
  if (Math.abs(images[0].height - images[1].height) > 40 || images[0].width !== images[1].width) return 1;
  const [width, height] = [Math.ceil(images[0].width / 20), Math.ceil(images[0].height / 20)];
  const cells = images.map(image => { const canvas = document.createElement("canvas"); canvas.width = width; canvas.height = height;
    const context = canvas.getContext("2d"); context.imageSmoothingQuality = "high"; context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height).data; });
  let differ = 0;
  for (let i = 0; i < cells[0].length; i += 4) if ([0, 1, 2].some(c => Math.abs(cells[0][i + c] - cells[1][i + c]) > 32)) ++differ;
  return differ / (width * height);
})"""
MOST = 0.03


class Pictures(unittest.TestCase):
    def test_those_of_the_documents_are_those_of_now(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            subprocess.run([TREE / "scripts/make-report-pictures", ROCE_ANALYZE, ROCE_GEN, folder], check=True)
            names = sorted(path.name for path in folder.glob("*.png"))
            self.assertEqual(names, sorted(path.name for path in (TREE / "docs/images").glob("report-*.png")))
            with Chromium(CHROMIUM, folder) as browser:
                def difference(one, other):
                    pictures = (json.dumps(base64.b64encode(path.read_bytes()).decode()) for path in (one, other))
                    return browser.run(f"{DIFFERENCE}({','.join(pictures)})")
                for name in names:
                    with self.subTest(name):
                        self.assertLess(difference(folder / name, TREE / "docs/images" / name), MOST,
                                        "look at it, then run scripts/make-report-pictures build/dev/bin/roce-analyze build/dev/bin/roce-gen")
                # Another picture is another one.
                self.assertGreater(difference(folder / names[0], folder / names[-1]), MOST)


if __name__ == "__main__":
    CHROMIUM, ROCE_ANALYZE, ROCE_GEN = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
