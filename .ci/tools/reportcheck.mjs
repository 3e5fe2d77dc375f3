// reportcheck FILE OUT [search]: a report in headless Chromium, at 1280 and 390 px, light
// and dark: axe-core finds nothing, nothing is asked of the network, no script
// is in it (with "search" one, and a field to search in), nothing is wider than the screen; pictures go to OUT.
import { chromium } from 'playwright-core'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const [file, out, search] = process.argv.slice(2)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] })
const problems = []
for (const width of [1280, 390]) {
  for (const colorScheme of ['light', 'dark']) {
    const name = `report-${width}-${colorScheme}`
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true })
    const page = await context.newPage()
    page.on('request', r => { if (!r.url().startsWith('file:')) problems.push(`${name}: asks for ${r.url()}`) })
    await page.goto('file://' + file)
    await page.screenshot({ path: `${out}/${name}.png`, fullPage: true })
    const seen = await page.evaluate(() => ({
      scripts: document.scripts.length,
      wide: document.documentElement.scrollWidth > innerWidth,
      height: document.documentElement.scrollHeight,
    }))
    if (seen.scripts > (search ? 1 : 0)) problems.push(`${name}: has scripts`)
    if (seen.wide) problems.push(`${name}: wider than the screen`)
    if (seen.height > 20000) problems.push(`${name}: ${seen.height} px tall`)
    await page.evaluate(() => document.querySelectorAll('details').forEach(d => { d.open = true }))
    await page.evaluate(axe)
    const found = await page.evaluate(() => axe.run())
    for (const v of found.violations) problems.push(`${name}: axe ${v.id}: ${v.help} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 120)}`)
    console.log(`  ${name}: ${seen.height} px, axe: ${found.passes.length} rules passed, ${found.violations.length} violations`)
    await context.close()
  }
}
const page = await browser.newPage()
await page.goto('file://' + file)
const order = []
for (let i = 0; i < 3; i++) { await page.keyboard.press('Tab'); order.push(await page.evaluate(() => document.activeElement.tagName)) }
if (order.some((tag, i) => tag !== 'A' && !(search && i > 0))) problems.push(`keyboard: ${order}`)
await page.pdf({ path: `${out}/report.pdf`, format: 'A4' })
await browser.close()
for (const p of problems) console.log(p)
process.exit(problems.length ? 1 : 0)
