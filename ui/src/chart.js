/* SPDX-License-Identifier: Apache-2.0 */
/* One line over time, with what it says where the pointer is. A library such as uPlot would be a third of the page, for this one chart. */
import { useState } from 'preact/hooks';
import { Canvas, html, tint } from './parts.js';
import { clock } from './format.js';

const LEFT = 66;
const BELOW = 18;

/* The next number of the form 1, 2 or 5 times a power of ten. */
function round(n) {
  const unit = 10 ** Math.floor(Math.log10(n));
  return unit * [1, 2, 5, 10].find((step) => step * unit >= n * 0.999);
}

/** `times` in seconds, `list` with as many values, `text(value)` with a unit. `stamp` changes with the data. */
export function Chart({ times, list, text, label, stamp, height = 140 }) {
  const [at, point] = useState(-1);
  const step = round((Math.max(...list) || 3) / 3);
  const top = step * Math.max(1, Math.ceil(Math.max(...list) / step));
  const first = times[0];
  const span = Math.max(10, times[times.length - 1] - first);
  const draw = (context, width) => {
    const x = (time) => LEFT + ((time - first) / span) * (width - LEFT - 6);
    const y = (value) => 6 + (1 - value / top) * (height - BELOW - 8);
    context.font = '11px system-ui';
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (let value = 0; value <= top + step / 2; value += step) {
      context.fillStyle = tint('line');
      context.fillRect(LEFT, Math.round(y(value)), width - LEFT, 1);
      context.fillStyle = tint('muted');
      context.fillText(text(value), LEFT - 8, y(value));
    }
    context.textAlign = 'center';
    for (let tick = 1; tick <= 4; tick++) {
      const time = first + (span * tick) / 5;
      context.fillText(clock(time * 1000).slice(0, 8), x(time), height - 6);
    }
    context.beginPath();
    list.forEach((value, i) => context.lineTo(x(times[i]), y(value)));
    context.strokeStyle = tint('accent');
    context.lineWidth = 1.5;
    context.stroke();
    context.lineTo(x(times[times.length - 1]), y(0));
    context.lineTo(x(first), y(0));
    context.globalAlpha = 0.1;
    context.fillStyle = tint('accent');
    context.fill();
    context.globalAlpha = 1;
    if (at >= 0 && at < list.length) {
      context.fillStyle = tint('muted');
      context.fillRect(Math.round(x(times[at])), 0, 1, height - BELOW);
      context.fillStyle = tint('accent');
      context.beginPath();
      context.arc(x(times[at]), y(list[at]), 3.5, 0, 7);
      context.fill();
    }
  };
  const onPoint = (px, py, isClick, width) => {
    if (px < LEFT) {
      point(-1);
      return;
    }
    const time = first + ((px - LEFT) / (width - LEFT - 6)) * span;
    let best = 0;
    times.forEach((other, i) => {
      if (Math.abs(other - time) < Math.abs(times[best] - time)) best = i;
    });
    point(best);
  };
  const shown = at >= 0 && at < list.length ? at : list.length - 1;
  return html`<div class="chart"><${Canvas} draw=${draw} height=${height} data=${stamp + ':' + at} onPoint=${onPoint} label=${label} />
    <p class="hint">${label}: <b>${text(list[shown])}</b> at ${clock(times[shown] * 1000).slice(0, 8)}</p></div>`;
}
