// The page of `sotto serve`. No libraries, no build step, no requests but to its own server.
"use strict";

const $ = (id) => document.getElementById(id);
const HEALTH_EVERY_MS = 5000;
const PROGRESS_EVERY_MS = 700;
const UNSURE_BELOW = 0.4;

let segments = [];      // {start, end, text, words: [{word, start, end, probability}]}
let language = "";
let name = "transcript";
let running = null;     // {abort, id} of the transcription that is on its way
let recorder = null;

// Requests. Paths are relative, so that the page also works behind a prefix.

function headers(more = {}) {
  const key = sessionStorage.getItem("key");
  return key ? { ...more, Authorization: `Bearer ${key}` } : more;
}

async function getJson(path) {
  const response = await fetch(path, { headers: headers() });
  if (response.status === 401) $("key-form").hidden = false;
  if (!response.ok && response.status !== 503) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

async function errorOf(response) {
  if (response.status === 401) $("key-form").hidden = false;
  try {
    return (await response.json()).error.message;
  } catch {
    return `The server answered ${response.status}.`;
  }
}

/// Yields the data of each server-sent event.
async function* eventsOf(response) {
  const decoder = new TextDecoder();
  let pending = "";
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    pending += decoder.decode(value, { stream: true });
    const events = pending.split("\n\n");
    pending = events.pop();
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:"));
      if (data.length) yield JSON.parse(data.map((line) => line.slice(5).trim()).join("\n"));
    }
  }
}

// Health and choices.

function showFacts(health) {
  const list = $("facts");
  list.replaceChildren();
  const add = (title, value) => {
    if (value === undefined || value === null || value === "") return;
    const dt = document.createElement("dt");
    const dd = document.createElement("dd");
    dt.textContent = title;
    dd.textContent = value;
    list.append(dt, dd);
  };
  add("Status", health.status);
  add("Version", health.version);
  add("Device", health.device);
  add("Fallback", health.fallback_reason);
  for (const model of health.models || [])
    add("Model", `${model.name}: ${model.state}${model.description ? `, ${model.description}` : ""}`);
  if (health.npu) add("NPU", JSON.stringify(health.npu));
  if (health.worker)
    add("Worker", `${health.worker.state}, ${health.worker.crashes} crashes, ${health.worker.hangs} hangs`);
  add("Waiting", health.queue_depth);
  add("Running", health.running);
  add("Up", `${health.uptime_s} s`);
}

async function pollHealth() {
  try {
    const health = await getJson("health");
    const loaded = (health.models || []).find((model) => model.description);
    $("device").textContent = health.status === "ok"
      ? (loaded ? loaded.description : `ready, ${health.device}`) : health.status;
    showFacts(health);
  } catch {
    $("device").textContent = "the server does not answer";
  }
  setTimeout(pollHealth, HEALTH_EVERY_MS);
}

function option(value, text) {
  const element = document.createElement("option");
  element.value = value;
  element.textContent = text;
  return element;
}

function languageName(code) {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(code);
  } catch {
    return code;
  }
}

async function loadChoices() {
  let models = [];
  try {
    models = (await getJson("v1/models")).data.filter(
      (model) => !model.task || model.task === "automatic-speech-recognition");
  } catch {
    return;
  }
  $("model").replaceChildren(option("", "default"), ...models.map((m) => option(m.id, m.id)));
  const codes = [...new Set(models.flatMap((model) => model.language || []))];
  const named = codes.map((code) => [code, languageName(code)]).sort((a, b) => a[1].localeCompare(b[1]));
  $("language").replaceChildren(option("", "detect"), ...named.map(([code, text]) => option(code, text)));
}

// The transcript.

function clock(seconds, separator = ".") {
  const ms = Math.max(0, Math.round(seconds * 1000));
  const part = (value, digits) => String(value).padStart(digits, "0");
  return `${part(Math.floor(ms / 3600000), 2)}:${part(Math.floor(ms / 60000) % 60, 2)}:` +
    `${part(Math.floor(ms / 1000) % 60, 2)}${separator}${part(ms % 1000, 3)}`;
}

function wordElement(word) {
  const span = document.createElement("span");
  span.className = word.probability !== undefined && word.probability < UNSURE_BELOW ? "word unsure" : "word";
  span.dataset.start = word.start;
  span.dataset.end = word.end;
  span.textContent = word.word.trim();
  return span;
}

/// The text with a span around each word that has a time; words are found in their order.
function fillText(element, segment) {
  element.replaceChildren();
  let rest = segment.text.trimStart();
  for (const word of segment.words || []) {
    const text = word.word.trim();
    const at = text ? rest.indexOf(text) : -1;
    if (at < 0) continue;
    element.append(rest.slice(0, at), wordElement(word));
    rest = rest.slice(at + text.length);
  }
  element.append(rest);
}

function addSegment(segment) {
  segments.push(segment);
  const row = document.createElement("li");
  const time = document.createElement("button");
  time.type = "button";
  time.className = "time";
  time.dataset.start = segment.start;
  time.textContent = clock(segment.start).slice(segment.start < 3600 ? 3 : 0, -4);
  time.setAttribute("aria-label", `Play from ${time.textContent}`);
  const text = document.createElement("span");
  text.className = "text";
  fillText(text, segment);
  text.addEventListener("input", () => { segment.text = text.textContent; });
  row.append(time, text);
  $("segments").append(row);
}

function setEditing(on) {
  $("edit").setAttribute("aria-pressed", String(on));
  for (const text of document.querySelectorAll("#segments .text")) {
    if (on) {
      text.contentEditable = "plaintext-only";
      text.setAttribute("role", "textbox");
      text.setAttribute("aria-label", "Text of the segment");
    } else {
      text.removeAttribute("contenteditable");
      text.removeAttribute("role");
      text.removeAttribute("aria-label");
    }
  }
}

const plainText = () => segments.map((segment) => segment.text.trim()).join("\n") + "\n";

const formats = {
  txt: plainText,
  srt: () => segments.map((s, i) =>
    `${i + 1}\n${clock(s.start, ",")} --> ${clock(s.end, ",")}\n${s.text.trim().replaceAll("-->", "->")}\n\n`).join(""),
  vtt: () => "WEBVTT\n\n" + segments.map((s) =>
    `${clock(s.start)} --> ${clock(s.end)}\n` +
    `${s.text.trim().replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("-->", "->")}\n\n`).join(""),
  json: () => JSON.stringify({ text: segments.map((s) => s.text).join("").trim(), language, segments }, null, 1) + "\n",
};

function download(format) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([formats[format]()], { type: "text/plain" }));
  link.download = `${name.replace(/\.[^.]*$/, "")}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function playFrom(seconds) {
  const audio = $("audio");
  audio.currentTime = Number(seconds);
  audio.play().catch(() => {});
}

function markSpokenWord() {
  const now = $("audio").currentTime;
  for (const word of document.querySelectorAll("#segments .word"))
    word.classList.toggle("now", now >= Number(word.dataset.start) && now < Number(word.dataset.end));
}

// A transcription.

function showError(message) {
  $("error").textContent = message;
  $("error").hidden = !message;
}

async function pollProgress(job) {
  while (running === job) {
    try {
      const state = await getJson(`v1/audio/progress/${job.id}`);
      if (running !== job) return;
      if (state.state === "queued") {
        $("status").textContent = `Waiting; ${state.position} before this one`;
      } else if (state.state === "running") {
        $("progress").value = state.progress;
        const seconds = state.audio_s ? ` of ${Math.round(state.audio_s)} s` : "";
        $("status").textContent = `Transcribing: ${Math.round(state.progress * 100)} %${seconds}`;
      }
    } catch {
      // The next answer will do.
    }
    await new Promise((resolve) => setTimeout(resolve, PROGRESS_EVERY_MS));
  }
}

function formOf(file, id) {
  const form = new FormData();
  form.append("stream", "true");
  form.append("request_id", id);
  form.append("timestamp_granularities[]", "segment");
  form.append("timestamp_granularities[]", "word");
  if ($("model").value) form.append("model", $("model").value);
  if ($("language").value) form.append("language", $("language").value);
  form.append("file", file, file.name || "recording");
  return form;
}

function begin(file) {
  if (running) running.abort.abort();
  const random = crypto.getRandomValues(new Uint32Array(4));
  const job = { abort: new AbortController(), id: Array.from(random, (n) => n.toString(16)).join("") };
  running = job;
  segments = [];
  name = file.name || "recording";
  showError("");
  setEditing(false);
  $("segments").replaceChildren();
  $("result").hidden = true;
  $("work").hidden = false;
  $("progress").removeAttribute("value");
  $("status").textContent = `Sending ${name}`;
  URL.revokeObjectURL($("audio").src);
  $("audio").src = URL.createObjectURL(file);
  return job;
}

async function follow(job, file) {
  const path = $("translate").checked ? "v1/audio/translations" : "v1/audio/transcriptions";
  const response = await fetch(path, {
    method: "POST", headers: headers(), body: formOf(file, job.id), signal: job.abort.signal });
  if (!response.ok) throw new Error(await errorOf(response));
  pollProgress(job); // the headers come as soon as the job is in the queue
  for await (const event of eventsOf(response)) {
    if (event.error) throw new Error(event.error.message);
    if (event.segment) {
      $("result").hidden = false;
      addSegment(event.segment);
    } else if (event.type === "transcript.text.done") {
      language = event.language || "";
      if (!segments.length) showError("No speech was found in this recording.");
    }
  }
}

async function transcribe(file) {
  const job = begin(file);
  try {
    await follow(job, file);
  } catch (error) {
    if (running === job && error.name !== "AbortError") showError(error.message);
  }
  if (running !== job) return;
  running = null;
  $("work").hidden = true;
}

// The microphone.

async function toggleRecording() {
  if (recorder) {
    recorder.stop();
    return;
  }
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (error) {
    showError(`The microphone cannot be used: ${error.message}`);
    return;
  }
  const pieces = [];
  recorder = new MediaRecorder(stream);
  recorder.ondataavailable = (event) => pieces.push(event.data);
  recorder.onstop = () => {
    const type = recorder.mimeType;
    recorder = null;
    for (const track of stream.getTracks()) track.stop();
    $("record").textContent = "Record";
    $("record").setAttribute("aria-pressed", "false");
    transcribe(new File(pieces, "recording", { type }));
  };
  recorder.start();
  $("record").textContent = "Stop";
  $("record").setAttribute("aria-pressed", "true");
}

// What the user does.

$("file").addEventListener("change", () => {
  if ($("file").files.length) transcribe($("file").files[0]);
  $("file").value = "";
});
$("record").addEventListener("click", toggleRecording);
$("record").hidden = !(navigator.mediaDevices && window.MediaRecorder);
$("cancel").addEventListener("click", () => running && running.abort.abort());
$("edit").addEventListener("click", () => setEditing($("edit").getAttribute("aria-pressed") !== "true"));
$("copy").addEventListener("click", () => navigator.clipboard && navigator.clipboard.writeText(plainText()));
$("segments").addEventListener("click", (event) => {
  const start = event.target.dataset.start;
  const editing = $("edit").getAttribute("aria-pressed") === "true";
  if (start !== undefined && !(editing && event.target.classList.contains("word"))) playFrom(start);
});
$("audio").addEventListener("timeupdate", markSpokenWord);
for (const button of document.querySelectorAll("[data-format]"))
  button.addEventListener("click", () => download(button.dataset.format));
$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", $("key").value);
  $("key-form").hidden = true;
  loadChoices();
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) transcribe(event.dataTransfer.files[0]);
  });
}

loadChoices();
pollHealth();
