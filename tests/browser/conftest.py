"""The demo, served by the real binary, and a headless Chromium that lets no error pass."""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "target" / "screenshots"
SERVING = "serving it on "


@pytest.fixture(scope="session")
def site():
    """Where the demo is served."""
    binary = os.environ.get("FOLGA_BINARY", str(ROOT / "target" / "debug" / "folga"))
    demo = subprocess.Popen([binary, "demo"], stdout=subprocess.PIPE, text=True)
    address = None
    for line in demo.stdout:
        if line.startswith(SERVING):
            address = line.removeprefix(SERVING).strip()
            break
    assert address, "the demo ended before it served"
    yield address
    demo.send_signal(signal.SIGTERM)
    demo.stdout.close()
    assert demo.wait(timeout=30) == 0


@pytest.fixture(scope="session")
def chromium():
    """Debian's Chromium. It is started by root in containers, where its sandbox cannot be had."""
    path = shutil.which("chromium") or "/usr/bin/chromium"
    arguments = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, chromium_sandbox=False, args=[*arguments, "--disable-component-update", "--disable-sync"]
        )
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium, site):
    """Opens tabs; at the end nothing may have failed in any of them."""
    failures, contexts = [], []

    def open_tab(path="/", **options):
        options.setdefault("viewport", {"width": 1440, "height": 900})
        options.setdefault("locale", "en-GB")
        context = chromium.new_context(base_url=site, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: said.type in ("error", "warning") and failures.append(said.text))
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("requestfailed", lambda request: failures.append(f"{request.url}: {request.failure}"))
        page.on("response", lambda answer: answer.status >= 400 and failures.append(f"{answer.url}: {answer.status}"))
        page.goto(path, wait_until="networkidle")
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert not failures
