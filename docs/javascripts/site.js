/* What scrolls sideways can be scrolled by keyboard. */
function reachable() {
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex]), pre code:not([tabindex])")) wide.tabIndex = 0;
}
new MutationObserver(reachable).observe(document.documentElement, { childList: true, subtree: true });
