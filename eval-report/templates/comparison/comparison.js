// The page of two builds: its commands are copied.
(() => {
"use strict";
for (const node of document.querySelectorAll("[data-copy]")) node.append(components.copier(node.dataset.copy, "command"));
})();
