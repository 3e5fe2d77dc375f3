// termshot COLUMNS: a screen of a terminal, as `tmux capture-pane -e -p` gives it
// on stdin, as SVG on stdout: colours, bold and faint, one line of text each.
import { readFileSync } from 'node:fs'

const columns = Number(process.argv[2])
const lines = readFileSync(0, 'utf8').replace(/\n+$/, '').split('\n')
const palette = ['#1e1e1e', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d4d4d4',
  '#7f848e', '#ff7b85', '#b5e890', '#ffd866', '#7cc4ff', '#dd9bf0', '#7fdbe6', '#ffffff']
const width = 8.4, height = 18
const escape = s => s.replace(/[&<>]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c])

function style(state, codes) {
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i]
    if (c === 0) Object.assign(state, { fill: '#d4d4d4', bold: false, faint: false })
    else if (c === 1) state.bold = true
    else if (c === 2) state.faint = true
    else if (c === 22) state.bold = state.faint = false
    else if (c >= 30 && c <= 37) state.fill = palette[c - 30]
    else if (c >= 90 && c <= 97) state.fill = palette[c - 82]
    else if (c === 39) state.fill = '#d4d4d4'
    else if (c === 38 && codes[i + 1] === 5) { state.fill = palette[codes[i + 2]] ?? '#d4d4d4'; i += 2 }
    else if (c === 38 && codes[i + 1] === 2) { state.fill = `rgb(${codes.slice(i + 2, i + 5)})`; i += 4 }
  }
}

let body = ''
const state = { fill: '#d4d4d4', bold: false, faint: false }
lines.forEach((line, row) => {
  let column = 0
  for (const part of line.split(/(\x1b\[[0-9;]*m)/)) {
    const code = part.match(/^\x1b\[([0-9;]*)m$/)
    if (code) { style(state, code[1].split(';').map(Number)); continue }
    const text = part.replace(/\x1b\[[0-9;?]*[A-Za-z]|\x1b\(B|[\x0e\x0f]/g, '')
    if (!text.trim()) { column += [...text].length; continue }
    const extra = (state.bold ? ' font-weight="bold"' : '') + (state.faint ? ' opacity="0.65"' : '')
    body += `<text x="${(12 + column * width).toFixed(1)}" y="${30 + row * height}" fill="${state.fill}"${extra} textLength="${([...text].length * width).toFixed(1)}">${escape(text.replaceAll(' ', '\u00a0'))}</text>\n`
    column += [...text].length
  }
})
const w = Math.ceil(24 + columns * width), h = (lines.length + 1) * height + 12
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" style="white-space:pre">
<rect width="100%" height="100%" rx="8" fill="#1e1e1e"/>
${body}</svg>
`)
