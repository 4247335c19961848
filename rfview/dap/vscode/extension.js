// Starts `rfview dap`, which is the debug adapter, for debug sessions of type "rfview".
"use strict";
const vscode = require("vscode");

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("rfview", {
      createDebugAdapterDescriptor(session) {
        const [command, ...words] = vscode.workspace.getConfiguration("rfview").get("command");
        const folder = session.workspaceFolder ? { cwd: session.workspaceFolder.uri.fsPath } : undefined;
        return new vscode.DebugAdapterExecutable(command, [...words, "dap"], folder);
      },
    }),
  );
};
