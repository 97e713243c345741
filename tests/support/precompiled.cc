// SPDX-License-Identifier: BSD-2-Clause
// A library needs a source; what it is for are the precompiled headers of tests/CMakeLists.txt.
