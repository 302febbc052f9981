// Says things to those who listen to the page. The words are in the page, in its language.

const announcer = document.getElementById("announcer");

/** Announce one of the texts that the announcer's element carries. */
export function announce(name) {
  announcer.textContent = announcer.dataset[name];
}
