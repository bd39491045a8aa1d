// Dark or light: what was chosen on the button, else what the system prefers. Debian's furo leaves that to a module,
// which a browser does not load from a file.
(function () {
    const prefers = window.matchMedia("(prefers-color-scheme: dark)");
    const chosen = () => localStorage.getItem("theme");
    const show = () => (document.body.dataset.theme = chosen() || (prefers.matches ? "dark" : "light"));

    document.documentElement.classList.remove("no-js");
    show();
    prefers.addEventListener("change", show);
    for (const button of document.getElementsByClassName("theme-toggle"))
        button.addEventListener("click", () => {
            localStorage.setItem("theme", document.body.dataset.theme === "dark" ? "light" : "dark");
            show();
        });
})();
