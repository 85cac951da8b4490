// A form generated from the schema of a kind.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { check, fields, type Form, formOf, get, isSecret, list, type Path, read, type Schema, type Value } from './compose_model.ts'

type Change = (path: Path, value: Value | undefined) => void
interface FieldProps { schema: Schema; value: Value | undefined; path: Path; name: string; required?: boolean; change: Change }

/** The fields of an object, required ones first. */
export function Group({ schema, value, path, change }: Omit<FieldProps, 'name'>) {
  const want = schema.required ?? [], names = Object.keys(schema.properties ?? {}).sort((a, b) => Number(want.includes(b)) - Number(want.includes(a)))
  return <>{names.map((n) => <Field key={n} schema={schema.properties![n]} value={get(value, [n])} path={[...path, n]} name={n} required={want.includes(n)} change={change} />)}</>
}

function Field(props: FieldProps) {
  const { schema, value, name, required, path, change } = props, form = formOf(schema)
  if (form === 'group' || form === 'list' || form === 'map') {
    return <Nest title={name + (required ? ' *' : '')} help={schema.description} open={value !== undefined || required} error={check(schema, value)}>{() => form === 'group' ? <>{value === undefined && <button type="button" onClick={() => change(path, {})}>Set {name}</button>}<Group schema={schema} value={value} path={path} change={change} /></>
      : form === 'list' ? <Items {...props} /> : <Entries {...props} />}</Nest>
  }
  return <Leaf {...props} form={form} />
}

function Nest({ title, help, open, error, children }: { title: string; help?: string; open?: boolean; error: string; children: () => ComponentChildren }) {
  const [shown, set] = useState(!!open), id = useId()
  return (
    <fieldset class="form-nest" aria-describedby={error ? id : undefined}>
      <legend><button type="button" class="link" aria-expanded={shown} onClick={() => set(!shown)}><span aria-hidden="true">{shown ? '▾' : '▸'}</span> {title}</button></legend>
      {error && <p id={id} class="tone-bad">✖ {error}</p>}
      {shown && <>{help && <p class="form-help">{help}</p>}{children()}</>}
    </fieldset>
  )
}

function Items({ schema, value, path, name, change }: FieldProps) {
  const all = list(value), s = schema.items!
  return (
    <>
      {all.map((v, i) => (
        <div class="form-item" key={i}>
          <Field schema={s} value={v} path={[...path, i]} name={`${name} ${i + 1}`} change={(p, v) => change(p, v === undefined && p.length === path.length + 1 ? '' : v)} />
          <button type="button" aria-label={`Remove ${name} ${i + 1}`} onClick={() => change([...path, i], undefined)}>×</button>
        </div>
      ))}
      <button type="button" onClick={() => change([...path, all.length], fresh(s))}>Add to {name}</button>
    </>
  )
}

const fresh = (s: Schema): Value => ({ text: '', number: 0, bool: false, enum: s.enum?.[0] ?? '', group: {}, list: [], map: {}, free: {} } satisfies { [form in Form]: Value })[formOf(s)]

function Entries({ schema, value, path, name, change }: FieldProps) {
  const [key, type] = useState(''), s = schema.additionalProperties!
  const add = () => {
    if (key && !Object.hasOwn(fields(value), key)) change([...path, key], fresh(s))
    type('')
  }
  return (
    <>
      {Object.entries(fields(value)).map(([k, v]) => (
        <div class="form-item" key={k}>
          <Field schema={s} value={v} path={[...path, k]} name={k} change={(p, v) => change(p, v === undefined && p.length === path.length + 1 ? '' : v)} />
          <button type="button" aria-label={`Remove ${k} of ${name}`} onClick={() => change([...path, k], undefined)}>×</button>
        </div>
      ))}
      <input aria-label={'New key of ' + name} value={key} onInput={(e) => type(e.currentTarget.value)} /> <button type="button" onClick={add}>Add to {name}</button>
    </>
  )
}

const shown = (v: Value | undefined, form: Form) => v === undefined ? '' : form === 'free' ? JSON.stringify(v, null, 1) : typeof v === 'object' ? JSON.stringify(v) : String(v)

function Leaf({ schema, value, path, name, required, change, form }: FieldProps & { form: Form }) {
  const id = useId(), [typed, type] = useState(() => shown(value, form)), secret = isSecret(name, schema)
  // Keeps the typed text while it parses to the value: "1." may become 1.5.
  useEffect(() => { if (JSON.stringify(read(schema, typed)) !== JSON.stringify(value)) type(shown(value, form)) }, [JSON.stringify(value)])
  const error = check(schema, value, required)
  const take = (text: string) => {
    type(text)
    change(path, read(schema, text))
  }
  const props = {
    id, value: typed, 'aria-required': !!required, 'aria-invalid': !!error && typed !== '', 'aria-describedby': `${id}-help ${id}-error`,
    onInput: (e: { currentTarget: { value: string } }) => take(e.currentTarget.value), placeholder: schema.default !== undefined ? String(schema.default) : undefined,
  }
  const choices = form === 'bool' ? ['true', 'false'] : form === 'enum' ? schema.enum!.map(String) : null
  return (
    <div class="form-field">
      <label for={id}>{name}{required && <span aria-hidden="true"> *</span>}{form === 'free' && ' (JSON)'}</label>
      {secret ? <p class="form-help" id={id}>No secret is typed in here: name a Secret in a field that refers to one, or list it under spec.inputs.</p>
        : choices ? <select {...props}><option value="">{schema.default !== undefined ? `${schema.default} (default)` : '–'}</option>{choices.map((c) => <option key={c}>{c}</option>)}</select>
          : form === 'free' ? <textarea {...props} rows={3} spellcheck={false} /> : <input {...props} inputMode={form === 'number' ? 'decimal' : undefined} spellcheck={false} />}
      <span id={id + '-error'} class="tone-bad">{error && '✖ ' + error}</span>
      <span id={id + '-help'} class="form-help">{schema.description}</span>
    </div>
  )
}

