// within: what is waited for in a browser has a limit, and is named when that is passed.
// Playwright limits navigations and clicks; opening and closing pages, evaluating and closing the browser it does not.
export async function within(seconds, what, wait) {
  let timer;
  const late = new Promise((_, no) => { timer = setTimeout(no, seconds * 1000, new Error(`${what}: not done after ${seconds} s`)); });
  try { return await Promise.race([wait, late]); } finally { clearTimeout(timer); }
}
