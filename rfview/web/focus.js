// Gives the keys to the terminal as soon as it exists, so that no click is needed first.
const give = () => { const keys = document.querySelector(".xterm-helper-textarea"); if (keys) { keys.focus(); } return keys; };
const watch = new MutationObserver(() => { if (give()) { watch.disconnect(); } });
watch.observe(document.body, { childList: true, subtree: true });
window.addEventListener("focus", give);
give();
