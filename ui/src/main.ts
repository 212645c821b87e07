import "./style/page.css";

const app = document.getElementById("app");
if (app) app.dataset.ready = "true";
