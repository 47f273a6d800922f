"use strict";
// Zoom and pan of the picture, by its view box.
const view = document.querySelector("main");
const picture = view.querySelector("svg");
const whole = picture.viewBox.baseVal;
const all = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
const most = 200;
let box = { ...all };
let held = null;

function show() {
  picture.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
}

// Units of the picture for a pixel of the screen.
function unit() {
  return 1 / picture.getScreenCTM().a;
}

// Place in the picture of a point of the screen.
function place(event) {
  const point = new DOMPoint(event.clientX, event.clientY);
  return point.matrixTransform(picture.getScreenCTM().inverse());
}

function middle() {
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

// Keeps the middle of the view within the picture.
function bound() {
  const { x, y } = middle();
  box.x += Math.min(Math.max(x, all.x), all.x + all.width) - x;
  box.y += Math.min(Math.max(y, all.y), all.y + all.height) - y;
}

function zoom(factor, at) {
  const width = Math.min(Math.max(box.width / factor, all.width / most), all.width * 2);
  const by = width / box.width;
  box = {
    x: at.x - (at.x - box.x) * by,
    y: at.y - (at.y - box.y) * by,
    width,
    height: box.height * by,
  };
  bound();
  show();
}

function move(x, y) {
  box.x += x;
  box.y += y;
  bound();
  show();
}

function reset() {
  box = { ...all };
  show();
}

view.addEventListener("wheel", (event) => {
  event.preventDefault();
  const lines = event.deltaMode === 0 ? 1 : 30;
  zoom(Math.exp((-event.deltaY * lines) / 500), place(event));
}, { passive: false });

view.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  held = { x: event.clientX, y: event.clientY };
  view.setPointerCapture(event.pointerId);
  view.classList.add("moving");
});

view.addEventListener("pointermove", (event) => {
  if (!held) return;
  const scale = unit();
  move((held.x - event.clientX) * scale, (held.y - event.clientY) * scale);
  held = { x: event.clientX, y: event.clientY };
});

for (const end of ["pointerup", "pointercancel"]) {
  view.addEventListener(end, () => {
    held = null;
    view.classList.remove("moving");
  });
}

const keys = {
  "+": () => zoom(1.25, middle()),
  "=": () => zoom(1.25, middle()),
  "-": () => zoom(0.8, middle()),
  "0": reset,
  Home: reset,
  ArrowLeft: () => move(-box.width / 10, 0),
  ArrowRight: () => move(box.width / 10, 0),
  ArrowUp: () => move(0, -box.height / 10),
  ArrowDown: () => move(0, box.height / 10),
};

document.addEventListener("keydown", (event) => {
  const action = keys[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
});

document.getElementById("in").addEventListener("click", keys["+"]);
document.getElementById("out").addEventListener("click", keys["-"]);
document.getElementById("all").addEventListener("click", reset);
