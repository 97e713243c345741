// SPDX-License-Identifier: BSD-2-Clause
// The common part of all plots over the time axis: the axis, the cursor that goes with the others, and the zoom by mouse
// and keyboard.
import uPlot from "uplot";
import * as format from "./format.ts";
import { moved, zoomed, type View } from "./view.ts";

/** Left of each plot, for the numbers of its axis. */
export const kAxis = 72;

const kPrinted = 970; // pixels across a sheet, A4 or letter

let isPrinting = false;

/** On paper a picture has another width, and at least twice as many pixels as on a coarse screen. */
export function setPrinting(value: boolean): void {
  isPrinting = value;
}

export function printing(): boolean {
  return isPrinting;
}

/** Pixels of a picture in one of its place. */
export function pixelRatio(): number {
  return (devicePixelRatio || 1) * detail();
}

// uPlot takes the pixels of the screen: for more of them a picture is made larger, and shown smaller.
function detail(): number {
  return isPrinting && (devicePixelRatio || 1) < 2 ? 2 : 1;
}

export function widthOf(place: HTMLElement): number {
  return isPrinting ? kPrinted : place.clientWidth;
}

export interface ChartParts {
  width: number;
  height: number;
  y: uPlot.Axis;
  space: number; // between two numbers of that axis
  range: (highest: number | null) => [number, number];
  /** Whether the height of the cursor means the same in other plots. */
  ownHeight?: boolean;
  paint: (chart: uPlot) => void;
  point: (chart: uPlot) => void;
}

export function colourOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}

export function chartOptions(view: View, parts: ChartParts): uPlot.Options {
  const size = detail();
  const axis = { stroke: () => colourOf("--faint"), font: `${12 * size}px system-ui, sans-serif`, grid: { stroke: () => colourOf("--grid"), width: size }, ticks: { show: false } };
  return {
    width: parts.width * size,
    height: parts.height * size,
    legend: { show: false },
    padding: [8 * size, 28 * size, 0, 0],
    scales: {
      x: { time: false, range: () => [view.range.begin / 1e9, view.range.end / 1e9] },
      y: { range: (_, __, highest) => parts.range(highest) },
    },
    axes: [
      { ...axis, size: 26 * size, gap: 8 * size, space: 90 * size, values: (_, splits) => splits.map((at) => `${format.seconds(at, (splits[1] ?? 1) - (splits[0] ?? 0))} s`) },
      { ...axis, ...parts.y, size: kAxis * size, gap: 6 * size, space: parts.space * size },
    ],
    series: [{}, { paths: () => null, points: { show: false } }],
    cursor: {
      ...(parts.ownHeight === true ? {} : { y: false }),
      // The others follow the view, and would otherwise zoom into the selection once more.
      sync: { key: "time", ...(parts.ownHeight === true ? { scales: ["x", null] as [string, null] } : {}), filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
      drag: { x: true, y: false, setScale: false },
      points: { show: false },
      bind: {
        dblclick: () => () => {
          view.showAll();
          return null;
        },
      },
    },
    hooks: { draw: [(chart) => clipped(chart, parts.paint)], setSelect: [(chart) => select(chart, view)], setCursor: [parts.point] },
  };
}

function clipped(chart: uPlot, paint: (chart: uPlot) => void): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  paint(chart);
  ctx.restore();
}

function select(chart: uPlot, view: View): void {
  const { left, width } = chart.select;
  if (width < 2) return;
  const range = { begin: chart.posToVal(left, "x") * 1e9, end: chart.posToVal(left + width, "x") * 1e9 };
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  view.show(range);
}

/** Zooms and moves by keys. */
export function onKey(event: KeyboardEvent, view: View): void {
  const range = view.range;
  const next = {
    ArrowLeft: moved(range, -0.25),
    ArrowRight: moved(range, 0.25),
    "+": zoomed(range, 0.5),
    "=": zoomed(range, 0.5),
    "-": zoomed(range, 2),
    "0": { begin: 0, end: view.whole },
  }[event.key];
  if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  view.show(next);
}

/** Makes a chart, or changes the width of one that there is. */
export class Chart {
  private chart: uPlot | undefined;
  private detail = 1;

  constructor(
    private readonly place: HTMLElement,
    private readonly view: View,
    private readonly parts: () => Omit<ChartParts, "width">,
  ) {}

  get width(): number {
    return Math.max(100, widthOf(this.place) - kAxis);
  }

  /** Draws; to be called when the plot is in the document. */
  draw(data: uPlot.AlignedData): void {
    const width = widthOf(this.place);
    if (this.detail !== detail()) {
      this.chart?.destroy();
      this.chart = undefined;
    }
    if (this.chart === undefined) {
      this.detail = detail();
      this.chart = new uPlot(chartOptions(this.view, { ...this.parts(), width }), data, this.place);
      if (this.detail !== 1) this.chart.root.style.setProperty("zoom", String(1 / this.detail));
    } else if (this.chart.width !== width * this.detail) this.chart.setSize({ width: width * this.detail, height: this.chart.height });
    this.show(data);
    this.chart.redraw(false, true);
  }

  /** Shows other data, in the time of the view. */
  show(data: uPlot.AlignedData): void {
    const { begin, end } = this.view.range;
    const { chart } = this;
    chart?.batch(() => {
      chart.setData(data, false);
      chart.setScale("x", { min: begin / 1e9, max: end / 1e9 });
    });
  }
}
