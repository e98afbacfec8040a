// The views of a report, for pages of one's own: each draws into an element, and again when called again.
// Needs views.css; views.d.ts has the types, docs/formats/report.md the data.
//
//   import { placementMap } from './views.js';
//   const view = placementMap(document.querySelector('#map'), data, { colourBy: 'copy' });
//   view.destroy();
export { placementMap } from './map.js';
export { pipelineTimeline } from './timeline.js';
export { memoryTimeline } from './memory.js';
export { rooflineChart } from './roofline.js';
export { shadowBars } from './prices.js';
export { memoryBars, sensitivityBars, timeBreakdown, trafficBars } from './bars.js';
export { alternativesTable, inputsPanel, stagesTable } from './panels.js';
export { redrawViews } from './frame.js';
