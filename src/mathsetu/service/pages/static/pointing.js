// A click on a symbol of the preview selects it in the box, so that it can be changed there.

export function enhancePreview() {
  const field = document.getElementById("q");
  document.getElementById("preview")?.addEventListener("click", (event) => {
    const symbol = event.target.closest("[data-symbol]");
    const places = symbol?.closest("[data-places]")?.dataset.places.split(" ").map(Number);
    const number = Number(symbol?.dataset.symbol);
    if (!places || number >= places.length - 1) return;
    // The server reads the question without the white space around it.
    const before = field.value.length - field.value.trimStart().length;
    const [from, to] = [before + places[number], before + places[number + 1]];
    // A script is read together with its sign, which is not selected.
    const sign = field.value.slice(from, to).match(/^[\^_]\s*/)?.[0].length ?? 0;
    const chosen = field.value.slice(from + sign, to).trimEnd();
    field.focus();
    field.setSelectionRange(from + sign, from + sign + chosen.length);
  });
}
