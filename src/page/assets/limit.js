// What changes at once on a limit's page: the what-if, and a chart to look into. Without it both are there all the same.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const written = new Intl.NumberFormat(data.language);

for (const hidden of document.querySelectorAll(".only-script")) hidden.hidden = false;
for (const shown of document.querySelectorAll(".without-script")) shown.hidden = true;

// ---- What if ----

const LARGEST = 2n ** 64n - 1n;
const histogram = data.histogram.map(([value, windows]) => [BigInt(value), BigInt(windows)]);
const peak = BigInt(data.peak ?? 0);

// Counts are added up exactly, as the service adds them up. The peak is a window of its own: what it has above the limit
// is the least that would have been refused, where windows are not fixed.
function refused(limit) {
  let requests = 0n;
  let windows = 0n;
  for (const [value, count] of histogram) {
    if (value > limit) {
      requests += count * (value - limit);
      windows += count;
    }
  }
  const least = data.fixed || peak <= limit ? 0n : peak - limit;
  if (requests < least) requests = least;
  if (least > 0n && windows < 1n) windows = 1n;
  return { requests, windows };
}

function alertAt(limit) {
  const share = (limit * BigInt(data.percent) + 99n) / 100n;
  return share < LARGEST ? share : LARGEST;
}

function show(id, count) {
  const figure = element(id);
  if (!figure) return;
  figure.textContent = written.format(count);
  figure.dataset.value = count.toString();
}

function tryLimit(text) {
  const limit = /^\d{1,20}$/.test(text.trim()) ? BigInt(text.trim()) : 0n;
  const good = limit >= 1n && limit <= LARGEST;
  element("what-if-wrong").hidden = good;
  element("what-if-limit").setAttribute("aria-invalid", String(!good));
  if (!good) return;
  const { requests, windows } = refused(limit);
  show("what-if-requests", requests);
  show("what-if-windows", windows);
  show("what-if-alert", alertAt(limit));
}

const input = element("what-if-limit");
const slide = element("what-if-slide");
input.addEventListener("input", () => {
  tryLimit(input.value);
  slide.value = input.value;
});
slide.addEventListener("input", () => {
  input.value = slide.value;
  tryLimit(slide.value);
});
element("what-if").addEventListener("submit", (event) => {
  event.preventDefault();
  tryLimit(input.value);
});

// ---- The chart ----

const chart = element("chart");
const cursor = element("cursor");
const HOUR = 3600;
const hours = data.peaks.length;
const times = Array.from({ length: hours }, (_, hour) => data.start + hour * HOUR);
const numbers = (counts) => counts.map((count) => (count === null ? null : Number(count)));
// As in the rest of the page: English dates are 2026-11-03, as in Swedish.
const dates = data.language === "en" ? "sv" : data.language;
const moment = new Intl.DateTimeFormat(dates, { dateStyle: "short", timeStyle: "short", timeZone: data.zone });
const date = new Intl.DateTimeFormat(dates, { dateStyle: "short", timeZone: data.zone });
const clock = new Intl.DateTimeFormat(dates, { hour: "2-digit", minute: "2-digit", timeZone: data.zone });
const at = (format, seconds) => format.format(new Date(seconds * 1000));
const day = (seconds) => (dates === "sv" ? at(date, seconds).slice(5) : at(date, seconds).slice(0, 5));
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Stripes over hours that are not known, so that they can't be taken for quiet ones.
function hatch(plot) {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour("--soft");
  ctx.lineWidth = scale;
  ctx.globalAlpha = 0.5;
  for (let hour = 0; hour < hours; hour++) {
    const known = data.known[hour];
    if (known !== "g" && known !== "p") continue;
    let end = hour + 1;
    while (data.known[end] === known) end++;
    const left = Math.max(bbox.left, plot.valToPos(times[hour], "x", true));
    const right = Math.min(bbox.left + bbox.width, plot.valToPos(times[0] + end * HOUR, "x", true));
    hour = end - 1;
    if (right <= left) continue;
    const height = known === "g" ? bbox.height : 6 * scale;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, height);
    ctx.clip();
    ctx.beginPath();
    const first = Math.floor((left - height) / (6 * scale)) * 6 * scale;
    for (let x = first; x < right; x += 6 * scale) {
      ctx.moveTo(x, bbox.top + height);
      ctx.lineTo(x + height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
  ctx.restore();
}

function lines(plot) {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.font = `600 ${11 * scale}px system-ui, sans-serif`;
  ctx.strokeStyle = ctx.fillStyle = colour("--ink");
  ctx.textBaseline = "alphabetic";
  for (const [value, name, width, dash, align] of [
    [data.alertAt, data.words.alert, 1, [2, 2], "left"],
    [data.limit, data.words.limit, 2, [], "right"],
  ]) {
    if (value === null) continue;
    const y = Math.round(plot.valToPos(Number(value), "y", true));
    ctx.lineWidth = width * scale;
    ctx.setLineDash(dash.map((length) => length * scale));
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.textAlign = align;
    const x = align === "left" ? bbox.left + 4 * scale : bbox.left + bbox.width;
    ctx.fillText(`${name} ${written.format(BigInt(value))}`, x, y - 5 * scale);
  }
  ctx.restore();
}

// A column as wide as its hour; a quiet hour lies on the ground as a line.
function columns(colourName, values, ground) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const bottom = bbox.top + bbox.height;
    for (let hour = 0; hour < hours; hour++) {
      if (values[hour] === null) continue;
      const left = Math.round(plot.valToPos(times[hour], "x", true));
      const right = Math.round(plot.valToPos(times[hour] + HOUR, "x", true));
      const height = bottom - plot.valToPos(values[hour], "y", true);
      ctx.fillStyle = colour(data.known[hour] === "i" ? "--track" : colourName);
      const least = ground ? 1.5 * devicePixelRatio : 0;
      ctx.fillRect(left, bottom - Math.max(height, least), Math.max(right - left, 1), Math.max(height, least));
    }
    ctx.restore();
  };
}

function tell(hour) {
  if (hour === null || !(hour in times) || data.known[hour] === " ") {
    cursor.textContent = "";
    return;
  }
  const count = (value) => written.format(BigInt(value));
  const [value, upper] = [data.peaks[hour], data.uppers[hour]];
  let text = data.words.gap;
  if (value !== null) {
    text = `${data.words.peak} ${count(value)}`;
    if (String(value) !== String(upper)) text += `, ${data.words.upper} ${count(upper)}`;
  }
  cursor.textContent = `${at(moment, times[hour])} · ${text}`;
}

function draw() {
  const [peaks, uppers] = [numbers(data.peaks), numbers(data.uppers)];
  const top = Math.max(1, Number(data.limit ?? 0), ...uppers.map((upper) => upper ?? 0)) * 1.1;
  const first = chart.querySelector("svg");
  // A label half of which would be cut off is left out.
  const label = (plot, splits) => splits.map((seconds, place) => {
    const x = plot.valToPos(seconds, "x");
    if (x < 16 || x > plot.width - 16) return "";
    const isDay = place === 0 || day(seconds) !== day(splits[place - 1]);
    return isDay ? day(seconds) : at(clock, seconds);
  });
  const invisible = { stroke: "transparent", points: { show: false } };
  const plot = new uPlot(
    {
      width: chart.clientWidth,
      height: 228,
      padding: [0, 0, 0, 0],
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), data.zone),
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, dist: 6 } },
      scales: { x: { range: (_, from, to) => [from, to] }, y: { range: [0, top] } },
      axes: [
        {
          size: 28,
          stroke: colour("--soft"),
          font: "11px system-ui, sans-serif",
          grid: { show: false },
          ticks: { stroke: colour("--line"), size: 5 },
          values: label,
        },
        { show: false },
      ],
      series: [{}, invisible, invisible],
      hooks: {
        drawAxes: [hatch, columns("--doubt", uppers, false), columns("--fill", peaks, true)],
        draw: [lines],
        setCursor: [(plot) => tell(hourAt(plot))],
      },
    },
    [[...times, data.start + hours * HOUR], [...peaks, null], [...uppers, null]],
    (plot, ready) => {
      chart.replaceChildren(plot.root);
      ready();
    },
  );
  plot.over.setAttribute("role", "img");
  plot.over.setAttribute("aria-label", first.getAttribute("aria-label"));
  plot.over.tabIndex = 0;
  plot.over.addEventListener("keydown", (event) => key(plot, event));
  new ResizeObserver(() => plot.setSize({ width: chart.clientWidth, height: 228 })).observe(chart);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => plot.redraw());
  }
}

// The hour under the cursor; null where there is none.
function hourAt(plot) {
  const left = plot.cursor.left ?? -1;
  return left < 0 ? null : Math.floor((plot.posToVal(left, "x") - data.start) / HOUR);
}

function key(plot, event) {
  const { min, max } = plot.scales.x;
  const here = hourAt(plot) ?? Math.floor((min - data.start) / HOUR);
  const point = (hour) => {
    const place = Math.min(hours - 1, Math.max(0, hour));
    if (times[place] < min || times[place] > max) {
      const shift = times[place] < min ? times[place] - min : times[place] - max;
      plot.setScale("x", { min: min + shift, max: max + shift });
    }
    // A scale that was just set holds after the present task.
    queueMicrotask(() => plot.setCursor({ left: plot.valToPos(times[place] + HOUR / 2, "x"), top: 0 }));
  };
  const zoom = (factor) => {
    const centre = times[here] ?? (min + max) / 2;
    const half = Math.max(6 * HOUR, ((max - min) / 2) * factor);
    const from = Math.max(data.start, centre - half);
    plot.setScale("x", { min: from, max: Math.min(data.start + hours * HOUR, from + 2 * half) });
    queueMicrotask(() => plot.setCursor({ left: plot.valToPos(centre + HOUR / 2, "x"), top: 0 }));
  };
  const moves = {
    ArrowLeft: () => point(here - (event.shiftKey ? 24 : 1)),
    ArrowRight: () => point(here + (event.shiftKey ? 24 : 1)),
    "+": () => zoom(0.5),
    "-": () => zoom(2),
    0: () => plot.setScale("x", { min: data.start, max: data.start + hours * HOUR }),
  };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  move();
}

if (hours > 0 && window.uPlot) draw();
