// Announces messages to screen readers. The texts are in the page, in its language.

const announcer = document.getElementById("announcer");

/** Announce one of the texts in the data of the announcer's element. */
export function announce(name) {
  announcer.textContent = announcer.dataset[name];
}
