// Every command gets a button that copies it, where the browser lets a page write
// to the clipboard. Without this script commands are marked and copied by hand.
"use strict";

for (const pre of navigator.clipboard ? document.querySelectorAll(".command pre") : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy: " + pre.previousElementSibling.textContent);
  const told = document.createElement("span");
  told.className = "unseen";
  told.setAttribute("role", "status");

  const say = (short, long) => {
    button.textContent = short;
    told.textContent = long;
    setTimeout(() => { button.textContent = "Copy"; told.textContent = ""; }, 2000);
  };
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(pre.textContent).then(
      () => say("Copied", "The command is in the clipboard"),
      () => say("Not copied", "The browser did not allow it"));
  });
  pre.before(button, told);
}
