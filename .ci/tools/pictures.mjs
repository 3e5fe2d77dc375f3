// pictures OUT REPORT UI: the report and the start page of serve as screenshots,
// and the SVGs in OUT as PNG, to be looked at.
import { chromium } from 'playwright-core'
import { readdirSync } from 'node:fs'

const [out, report, ui] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] })
async function shot(url, name, width, colorScheme, fullPage) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  const page = await context.newPage()
  await page.goto(url)
  await page.screenshot({ path: `${out}/${name}.png`, fullPage })
  await context.close()
}
for (const width of [1280, 400]) {
  for (const scheme of ['light', 'dark']) {
    await shot('file://' + report, `report-${width}-${scheme}`, width, scheme, false)
    await shot('file://' + report, `report-${width}-${scheme}-full`, width, scheme, true)
    await shot(ui, `serve-${width}-${scheme}`, width, scheme, false)
  }
}
for (const svg of readdirSync(out).filter(n => n.endsWith('.svg'))) await shot(`file://${out}/${svg}`, svg.replace('.svg', ''), 720, 'light', false)
await browser.close()
