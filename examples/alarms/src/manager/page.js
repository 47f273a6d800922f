// Fetches the alarms every second, and shows those that contain what is searched for.
"use strict";

(() => {
  const SEVERITIES = ["critical", "major", "minor", "warning", "indeterminate"];
  const at = (id) => document.getElementById(id);
  let state = null;

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // 20261127225512.3Z, in the reader's own zone.
  const time = (text) => {
    const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d)?Z$/.exec(text);
    if (!parts) return text;
    const [, year, month, day, hour, minute, second] = parts.map(Number);
    return new Date(Date.UTC(year, month - 1, day, hour, minute, second)).toLocaleString();
  };

  const say = (kind, text) => {
    at("liveness").className = `liveness ${kind}`;
    at("liveness").textContent = text;
  };

  const show = () => {
    const { alarms, counts, systems, service, filter, repeats, unlisted } = state;
    at("counts").replaceChildren(...SEVERITIES.map((severity) => {
      const item = element("li", ` ${severity}`, severity);
      item.prepend(element("b", counts[severity]));
      return item;
    }));
    const wanted = at("search").value.toLowerCase();
    const rows = alarms.filter((alarm) => Object.values(alarm).join(" ").toLowerCase().includes(wanted));
    at("alarms").replaceChildren(...rows.map((alarm) => {
      const row = element("tr", "", alarm.severity);
      const severity = element("th", alarm.severity);
      severity.scope = "row";
      row.append(severity, ...[alarm.object, alarm.cause, time(alarm.raised), alarm.changes, alarm.text].map((text) => element("td", text)));
      return row;
    }));
    const notes = [`${rows.length} of ${alarms.length} active alarms`];
    if (filter) notes.push(`the filter is ${filter}`);
    if (repeats) notes.push(`${repeats} repeated notifications left out`);
    if (unlisted) notes.push(`${unlisted} alarms found no room in the list`);
    at("note").textContent = notes.join("; ");
    if (systems.length) {
      at("systems").replaceChildren(...systems.flatMap(({ system, seconds, silent }) => {
        const text = `${system || "without a name"}: last heard ${seconds} s ago${silent ? ", silent" : ""}`;
        return [element("span", text, silent ? "silent" : ""), element("br", "")];
      }));
    }
    if (service.connected) say("is-live", "Live");
    else say("is-away", `Not connected for ${service.away} s: ${service.problem}`);
  };

  const refresh = async () => {
    try {
      const reply = await fetch("/alarms.json");
      state = await reply.json();
      show();
    } catch {
      say("is-away", "The alarm manager does not answer");
    }
    setTimeout(refresh, 1000);
  };

  at("search").addEventListener("input", () => state && show());
  refresh();
})();
