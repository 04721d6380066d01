/* Browsers refuse workers to pages read from files. There the worker of the site's search runs in a hidden frame. */
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const scope = this.frame.contentWindow;
      scope.postMessage = (data) => setTimeout(() => this.onmessage?.({ data }));
      const script = scope.document.createElement("script");
      script.src = new URL(address, document.baseURI);
      this.loaded = new Promise((resolve) => (script.onload = resolve));
      scope.document.body.append(script);
    }
    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow?.onmessage({ data }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
