"""The extension for VS Code as a .vsix file: the files of vscode/, a version, and the command that starts this rfview."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from importlib import resources
from pathlib import Path

from rfview import __version__
from rfview.engine import files

FILES = ("package.json", "extension.js", "README.md")
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".md" ContentType="text/markdown"/><Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="{name}" Version="{version}" Publisher="{publisher}"/>
<DisplayName>{displayName}</DisplayName>
<Description xml:space="preserve">{description}</Description>
<Categories>Debuggers</Categories>
<Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="{engine}"/></Properties>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
</Assets>
</PackageManifest>
"""


def write(path: str | Path) -> None:
    """Write the extension; raises InputError if the file cannot be written."""
    folder = resources.files("rfview.dap") / "vscode"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in FILES}
    # three numbers: the editor accepts no other form of version
    version = ".".join((__version__.split("+")[0].split(".") + ["0", "0"])[:3])
    command = json.dumps([sys.executable, "-m", "rfview"])
    texts["package.json"] = texts["package.json"].replace('"@COMMAND@"', command).replace("@VERSION@", version)
    about = json.loads(texts["package.json"])
    manifest = MANIFEST.format(**{name: about[name] for name in ("name", "publisher", "displayName", "description")},
                               version=version, engine=about["engines"]["vscode"])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("[Content_Types].xml", TYPES)
        packed.writestr("extension.vsixmanifest", manifest)
        for name, text in texts.items():
            packed.writestr(f"extension/{name}", text)
    files.write(path, made.getvalue())
