// The functions of the page beyond plain HTML. Each part works alone and does nothing if its elements
// are missing.

import { enhanceBox } from "./box.js";
import { enhanceEditor } from "./editor.js";
import { enhanceExport } from "./export.js";
import { enhanceFormulas, listenToFolds } from "./formulas.js";
import { enhanceHits } from "./hits.js";
import { listenToKeys } from "./keyboard.js";
import { enhanceMore } from "./more.js";
import { enhancePalette } from "./palette.js";
import { enhancePreview } from "./pointing.js";
import { enhanceSuggestions } from "./suggestions.js";
import { enhanceTheme } from "./switch.js";
import { enhanceTyping } from "./typing.js";

enhanceTheme();
enhanceSuggestions();
enhanceBox();
enhancePreview();
enhancePalette();
enhanceEditor();
enhanceTyping();
enhanceHits();
enhanceMore();
enhanceExport();
enhanceFormulas(document);
listenToFolds();
listenToKeys();
