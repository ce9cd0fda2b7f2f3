'use strict';
// The table of drives: sorted, filtered and drawn a screenful at a time. Whatever a drive says goes in as text, never as HTML.
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const RANK = {CRITICAL: 0, UNKNOWN: 1, WARNING: 2, OK: 3}, PAGE = 100, DAY = 86400, YEAR = 365.25 * DAY;
  const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  const byId = (id) => document.getElementById(id);

  function element(name, text, attributes) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    for (const key in attributes || {}) made.setAttribute(key, attributes[key]);
    return made;
  }
  function size(bytes) {
    let power = 0;
    while (bytes >= 1000 && power < SIZES.length - 1) { bytes /= 1000; power += 1; }
    return Number(bytes.toPrecision(3)) + ' ' + SIZES[power];
  }
  const day = (seconds) => new Date((data.made + seconds) * 1000).toISOString().slice(0, 10);
  const reading = (drive, role) => drive.readings.find((each) => each.role === role && each.judged && each.value !== null);
  const number = (drive, role) => { const found = reading(drive, role); return found ? found.value : undefined; };
  const soonest = (drive) => Object.values(drive.forecasts || {}).sort((a, b) => a.left - b.left)[0];
  function date(forecast) {
    return (forecast.estimate ? 'about ' : '') + day(forecast.left) + ' (' + day(forecast.earliest) + ' to ' + day(forecast.latest) + ')';
  }
  function written(drive) {
    const amount = number(drive, 'host_written'), rated = number(drive, 'rated_written');
    return amount === undefined ? '' : size(amount) + (rated ? ' of ' + size(rated) : '');
  }
  function bar(drive) {
    const found = reading(drive, 'endurance_used'), cell = document.createDocumentFragment();
    if (!found) return cell;
    const box = element('span', null, {'class': 'bar ' + found.state, 'aria-hidden': 'true'}), inner = element('i');
    inner.style.width = Math.min(found.value, 100) + '%';
    box.append(inner);
    cell.append(box, found.value + ' %');
    return cell;
  }
  const percent = (value) => value === undefined ? '' : value + ' %';

  // key, title, what is sorted by, what is shown, class
  const COLUMNS = [
    ['state', 'State', (d) => RANK[d.state], (d) => d.state, 'state'],
    ['host', 'Host', (d) => d.host || '', (d) => d.host || '', 'name'],
    ['name', 'Drive', (d) => d.name || d.device, null, 'name'],
    ['model', 'Model', (d) => d.model || '', (d) => d.model || '', 'model'],
    ['used', 'Used', (d) => number(d, 'endurance_used'), bar, 'right'],
    ['spare', 'Spare', (d) => number(d, 'spare_available'), (d) => percent(number(d, 'spare_available')), 'right'],
    ['until', 'Lasts until', (d) => { const f = soonest(d); return f ? f.left : undefined; }, (d) => { const f = soonest(d); return f ? (f.estimate ? '~ ' : '') + day(f.left) : ''; }, 'right'],
    ['temperature', 'Temp.', (d) => number(d, 'temperature'), (d) => { const t = number(d, 'temperature'); return t === undefined ? '' : t + ' °C'; }, 'right'],
    ['age', 'Age', (d) => number(d, 'power_on_time'), (d) => { const t = number(d, 'power_on_time'); return t === undefined ? '' : (t / YEAR).toFixed(1) + ' y'; }, 'right'],
    ['written', 'Written', (d) => number(d, 'host_written'), written, 'right'],
    ['serial', 'Serial', (d) => d.serial || '', (d) => d.serial || '', 'serial'],
    ['what', 'What', (d) => d.action || '', (d) => (d.action && d.action !== 'nothing' ? d.action + ': ' : '') + (d.why || ''), 'what'],
  ].filter(([key, , value]) => key === 'state' || key === 'name' || data.drives.some((drive) => value(drive) !== undefined && value(drive) !== ''));

  let order = ['state', 1], found = [], drawn = 0;
  data.drives.forEach((drive, place) => {
    drive.place = place;
    drive.text = [drive.host, drive.name, drive.device, drive.model, drive.serial, drive.firmware, drive.why, drive.state, drive.action, drive.bay,
      ...(drive.notes || []), ...(drive.carries || [])].filter(Boolean).join(' ').toLowerCase();
  });

  function head() {
    const row = byId('head');
    for (const [key, title, , , kind] of COLUMNS) {
      const cell = element('th', null, {scope: 'col', 'data-key': key, 'class': kind === 'right' ? 'right' : ''});
      const button = element('button', title, {type: 'button'});
      button.addEventListener('click', () => { order = [key, order[0] === key ? -order[1] : key === 'used' || key === 'age' || key === 'temperature' ? -1 : 1]; show(); });
      cell.append(button);
      row.append(cell);
    }
  }
  function compare(one, other) {
    const value = COLUMNS.find(([key]) => key === order[0])[2], a = value(one), b = value(other);
    if (a === b) return one.place - other.place;
    if (a === undefined || a === '') return 1;   // what is not told stands last, whichever way
    if (b === undefined || b === '') return -1;
    return (a < b ? -1 : 1) * order[1];
  }
  function show() {
    const words = byId('text').value.toLowerCase().split(/\s+/).filter(Boolean), state = byId('state').value, model = byId('model').value;
    found = data.drives.filter((drive) => (!state || drive.state === state) && (!model || drive.model === model)
      && words.every((word) => drive.text.includes(word))).sort(compare);
    for (const cell of byId('head').children) {
      if (cell.dataset.key === order[0]) cell.setAttribute('aria-sort', order[1] > 0 ? 'ascending' : 'descending');
      else cell.removeAttribute('aria-sort');
    }
    byId('rows').replaceChildren();
    drawn = 0;
    more(PAGE);
    byId('shown').textContent = found.length + ' of ' + data.drives.length;
  }
  function more(count) {
    const rows = document.createDocumentFragment();
    for (const drive of found.slice(drawn, drawn + count)) rows.append(line(drive));
    drawn = Math.min(drawn + count, found.length);
    byId('rows').append(rows);
    byId('more').hidden = drawn >= found.length;
  }
  function line(drive) {
    const row = element('tr');
    for (const [key, title, , shown, kind] of COLUMNS) {
      const cell = element('td', null, {'class': kind + (key === 'state' ? ' ' + drive.state : ''), 'data-title': title});
      if (key === 'name') cell.append(opener(drive, row));
      else cell.append(shown(drive));
      if (!cell.textContent) cell.classList.add('empty');
      row.append(cell);
    }
    return row;
  }
  function opener(drive, row) {
    const part = document.createDocumentFragment(), button = element('button', drive.name || drive.device, {type: 'button', 'aria-expanded': 'false'});
    button.addEventListener('click', () => {
      const open = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!open));
      if (open) row.nextSibling.remove();
      else row.after(panel(drive));
    });
    part.append(button);
    if (drive.bay) part.append(element('small', drive.bay));
    return part;
  }

  function panel(drive) {
    const row = element('tr', null, {'class': 'panel'}), cell = element('td', null, {colspan: String(COLUMNS.length)}), list = element('dl');
    const facts = [['address', (drive.type ? drive.type + '@' : '') + drive.device], ['model', drive.model], ['firmware', drive.firmware], ['serial', drive.serial],
      ['kind', drive.kind], ['entry', drive.entry], ['bay', drive.bay], ['light', drive.light ? 'echo 1 > ' + drive.light : ''],
      ['carries', (drive.carries || []).join('; ')], ['written', written(drive)],
      ...Object.entries(drive.forecasts || {}).map(([role, forecast]) => [role.replace('_', ' ') + ' until', date(forecast)])];
    for (const [name, text] of facts) if (text) list.append(element('dt', name), element('dd', text));
    cell.append(list);
    if (drive.readings.length) cell.append(readings(drive));
    for (const note of [...(drive.acknowledged || []), ...(drive.notes || [])]) cell.append(element('p', note));
    row.append(cell);
    return row;
  }
  function readings(drive) {
    const table = element('table'), body = element('tbody'), top = element('tr'), head = element('thead'), past = drive.past || {};
    const titles = ['state', 'reading', 'warning', 'critical', 'source', 'why', ...(Object.keys(past).length ? ['memory'] : [])];
    for (const title of titles) top.append(element('th', title, {scope: 'col'}));
    head.append(top);
    for (const each of drive.readings) {
      const row = element('tr', null, {'class': each.judged ? '' : 'unjudged'});
      row.append(element('td', each.judged ? each.state : '', {'class': each.judged ? each.state : ''}), element('td', each.said || each.role + ' ' + each.value),
        element('td', each.warning), element('td', each.critical), element('td', each.source), element('td', each.reason));
      if (titles.length > 6) { const cell = element('td'); if (each.judged && past[each.role]) cell.append(graph(past[each.role], each.role)); row.append(cell); }
      body.append(row);
    }
    table.append(element('caption', 'Readings'), head, body);
    return table;
  }
  function graph(points, role) {
    const NS = 'http://www.w3.org/2000/svg', svg = document.createElementNS(NS, 'svg'), line = document.createElementNS(NS, 'polyline');
    const times = points.map((point) => point[0]), values = points.map((point) => point[1]);
    const first = times[0], span = Math.max(data.made - first, 1), low = Math.min(...values), high = Math.max(...values);
    const at = (time, value) => ((time - first) / span * 100).toFixed(1) + ',' + (high === low ? 10 : 20 - (value - low) / (high - low) * 20).toFixed(1);
    const steps = points.flatMap((point, place) => place ? [at(point[0], points[place - 1][1]), at(point[0], point[1])] : [at(point[0], point[1])]);
    line.setAttribute('points', [...steps, at(data.made, values[values.length - 1])].join(' '));
    svg.setAttribute('viewBox', '0 0 100 20');
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('class', 'line');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', role + ' from ' + values[0] + ' to ' + values[values.length - 1] + ' since ' + day(first - data.made));
    svg.append(line);
    return svg;
  }

  head();
  for (const model of [...new Set(data.drives.map((drive) => drive.model).filter(Boolean))].sort()) byId('model').append(element('option', model));
  for (const id of ['text', 'state', 'model']) byId(id).addEventListener('input', show);
  byId('more').addEventListener('click', () => more(10 * PAGE));
  if ('IntersectionObserver' in window) new IntersectionObserver((seen) => { if (seen[0].isIntersecting && drawn < found.length) more(PAGE); }, {rootMargin: '600px'}).observe(byId('more'));
  addEventListener('beforeprint', () => more(found.length));
  show();
}());
