"""Headless Chromium for the tests of HTML reports, as the fixture ``browser``. Without it, they are skipped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# Selenium takes longer to import than most test modules to run, and conftest.py imports this one.
if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

__all__ = ["Browser", "browser", "browser_of_process"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Without a screen and a sandbox, as in containers; nothing of the browser's own goes over the network.
ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--no-first-run", "--window-size=1400,1000",
)  # fmt: skip


@dataclass
class Browser:
    """A browser with a folder for pages.

    Attributes
    ----------
    driver : selenium.webdriver.Chrome
    folder : Path
    expected : list of str
        Parts of console messages that a test provokes.
    loads : int
        The number of pages so far, a part of their addresses.
    """

    driver: Chrome
    folder: Path
    expected: list[str] = field(default_factory=list)
    loads: int = 0

    def open(self, page: str, fragment: str = "", name: str = "report.html") -> None:
        """Write a page to a file and load it."""
        path = self.folder / name
        path.write_text(page, "utf-8")
        self.load(path.as_uri() + (f"#{fragment}" if fragment else ""))

    def load(self, address: str) -> None:
        """Load an address as a new page, also if only its fragment differs from the last one."""
        place, number_sign, fragment = address.partition("#")
        self.loads += 1
        self.driver.get(f"{place.partition('?')[0]}?{self.loads}{number_sign}{fragment}")
        self.wait("return document.querySelector('[aria-busy=true]') === null")

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a script returns."""
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[WebElement]:
        """The elements of a CSS selector."""
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> WebElement:
        """The only element of a CSS selector."""
        (found,) = self.all(selector)
        return found

    def texts(self, selector: str) -> list[str]:
        """The text of each element, hidden ones included."""
        texts: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector
        )
        return texts

    def press(self, *keys: str) -> None:
        """Press keys in the element that has the focus."""
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            self.driver.switch_to.active_element.send_keys(getattr(Keys, key, key))

    def wait(self, script: str, *arguments: Any) -> Any:
        """Wait until a script returns a true value, and return that value."""
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(self.driver, 10, 0.02).until(lambda _: self.run(script, *arguments))

    def resize(self, width: int, height: int = 1000) -> None:
        """Set the size of the page."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, **features: str) -> None:
        """Emulate media features, as in ``prefer(prefers_color_scheme="dark")``; without any, the browser's own."""
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": named})

    def console(self) -> list[str]:
        """The errors and warnings in the console since the last call."""
        messages = [str(entry["message"]) for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]
        return [text for text in messages if not any(part in text for part in self.expected)]

    def requests(self) -> list[str]:
        """The addresses that pages have requested since the last call, except for the pages and what is in them."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]  # type: ignore[no-untyped-call]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        urls = [each["request"]["url"] for each in sent if each.get("type") != "Document"]
        return [url for url in urls if not url.startswith("data:")]


@pytest.fixture(scope="session")
def browser_of_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of a process: it takes two seconds to start."""
    pytest.importorskip("selenium")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip(f"no {'browser' if binary is None else 'chromedriver'}: install chromium and chromium-driver")
    options = ChromeOptions()
    options.binary_location = binary
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = Chrome(options=options, service=Service(driver))
    try:
        yield Browser(chrome, tmp_path_factory.mktemp("pages"))
    finally:
        chrome.quit()


@pytest.fixture
def browser(browser_of_process: Browser) -> Iterator[Browser]:
    """A browser 1,400 pixels wide. After the test, its console has no error, and its pages have requested nothing."""
    started = browser_of_process
    started.expected.clear()
    started.resize(1400)
    started.prefer()
    started.console()
    started.requests()
    yield started
    console, requests = started.console(), started.requests()
    assert console == [], f"in the console: {console}"
    assert requests == [], f"requested: {requests}"
