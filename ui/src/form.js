/* SPDX-License-Identifier: Apache-2.0 */
/* A form for a message, made from its descriptor. It keeps the text of each field and makes JSON of them. */
import { useRef, useState } from 'preact/hooks';
import { html } from './parts.js';

const whole = /^((u|i)(8|16|32|64)|time)$/;

/* "[item]", "[f64*3]", "?str" -> {shape, base, length} */
function typeOf(text) {
  const list = /^\[(.+?)(?:\*(\d+))?\]$/.exec(text);
  if (list) return { shape: list[2] ? 'array' : 'list', base: list[1], length: +list[2] || 0 };
  if (text.startsWith('?')) return { shape: 'optional', base: text.slice(1) };
  return { shape: 'one', base: text };
}

/** The text that a field begins with. */
function initial(type, schema, depth = 0) {
  const { shape, base, length } = typeOf(type);
  if (shape === 'optional') return null;
  if (shape === 'list') return '[]';
  if (shape === 'array') return '[' + Array(length).fill(base === 'bool' ? 'false' : base === 'str' ? '""' : '0').join(', ') + ']';
  if (base === 'bool') return false;
  if (whole.test(base) || /^f/.test(base)) return '0';
  const fields = fieldsOf(schema, base);
  if (fields && depth < 8) return Object.fromEntries(fields.map((field) => [field.name, initial(field.type, schema, depth + 1)]));
  return '';
}

export function fieldsOf(schema, name) {
  const found = schema && schema.messages && schema.messages.find((message) => message.name === name);
  return found ? found.fields : null;
}

/* JSON of one field. Numbers stay the text that was typed, so that 64 bits are exact. Throws a text. */
function written(type, value, schema, name) {
  const { shape, base } = typeOf(type);
  if (shape === 'optional' && value == null) return 'null';
  if (shape === 'list' || shape === 'array') {
    try {
      JSON.parse(value);
    } catch {
      throw new Error(`${name}: not a list in JSON`);
    }
    return value;
  }
  if (base === 'bool') return value ? 'true' : 'false';
  if (whole.test(base)) {
    if (!/^-?\d+$/.test(String(value).trim())) throw new Error(`${name}: not a whole number`);
    return String(value).trim();
  }
  if (base === 'f32' || base === 'f64') {
    if (!isFinite(Number(value)) || String(value).trim() === '') throw new Error(`${name}: not a number`);
    return String(Number(value));
  }
  const fields = fieldsOf(schema, base);
  return fields ? writeFields(fields, value, schema) : JSON.stringify(value);
}

function writeFields(fields, values, schema) {
  return '{' + fields.map((field) => JSON.stringify(field.name) + ':' + written(field.type, values[field.name], schema, field.name)).join(',') + '}';
}

function Field({ field, value, schema, onChange }) {
  const { shape, base } = typeOf(field.type);
  const label = html`<span class="field-name">${field.name}</span><span class="field-type">${field.type}${field.secret ? ', secret' : ''}</span>`;
  if (shape === 'optional') {
    const given = value != null;
    return html`<div class="field">
      <label class="check"><input type="checkbox" checked=${given} onChange=${() => onChange(given ? null : initial(base, schema))} />${label}</label>
      ${given && html`<${Field} field=${{ ...field, type: base }} value=${value} schema=${schema} onChange=${onChange} />`}</div>`;
  }
  const fields = shape === 'one' && fieldsOf(schema, base);
  if (fields) {
    return html`<fieldset><legend>${label}</legend>${fields.map((inner) => html`
      <${Field} key=${inner.name} field=${inner} value=${value[inner.name]} schema=${schema}
        onChange=${(next) => onChange({ ...value, [inner.name]: next })} />`)}</fieldset>`;
  }
  if (base === 'bool' && shape === 'one') {
    return html`<label class="field check"><input type="checkbox" name=${field.name} checked=${value} onChange=${() => onChange(!value)} />${label}</label>`;
  }
  const props = { name: field.name, value, onInput: (event) => onChange(event.target.value), spellcheck: false, autocomplete: 'off' };
  if (shape !== 'one') return html`<label class="field">${label}<textarea rows="2" ...${props}></textarea></label>`;
  return html`<label class="field">${label}<input type=${field.secret ? 'password' : 'text'}
    inputmode=${whole.test(base) ? 'numeric' : undefined} ...${props} /></label>`;
}

/** Keeps the values of a message. Returns [form, json()], where json() throws a text about the first wrong field. */
export function useForm(schema, message) {
  const fields = fieldsOf(schema, message) || [];
  /* Two fields may change before the page is drawn: a change begins with what is kept, not with what was drawn. */
  const kept = useRef({ message: null, values: {} });
  const [, draw] = useState(0);
  const current = () => (kept.current.message === message
    ? kept.current.values
    : Object.fromEntries(fields.map((field) => [field.name, initial(field.type, schema)])));
  const change = (name, next) => {
    kept.current = { message, values: { ...current(), [name]: next } };
    draw((times) => times + 1);
  };
  const values = current();
  const form = fields.length
    ? fields.map((field) => html`<${Field} key=${message + field.name} field=${field} value=${values[field.name]} schema=${schema}
        onChange=${(next) => change(field.name, next)} />`)
    : html`<p class="muted">This message has no fields.</p>`;
  return [form, () => writeFields(fields, current(), schema)];
}
