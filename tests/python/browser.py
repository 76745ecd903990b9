"""A headless browser for the tests of HTML reports, as the fixture ``browser``. Without it, they are skipped.

It is Chromium, or Firefox if RESHUFFLE_BROWSER=firefox.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# Selenium takes longer to import than most test modules to run, and conftest.py imports this one.
if TYPE_CHECKING:
    from selenium.webdriver.remote.webelement import WebElement

__all__ = ["Browser", "browser", "browser_of_process"]

# The programs of a browser, and its driver.
PROGRAMS = {
    "chromium": (("chromium", "chromium-browser", "google-chrome"), "chromedriver"),
    "firefox": (("firefox-esr", "firefox"), "geckodriver"),
}
# Without a screen and a sandbox, as in containers; nothing of the browser's own goes over the network.
ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--no-first-run", "--window-size=1400,1000",
)  # fmt: skip


@dataclass
class Browser:
    """A browser with a folder for pages."""

    driver: Any  # of Selenium
    folder: Path
    expected: list[str] = field(default_factory=list)  # parts of console messages that a test provokes
    loads: int = 0  # the number of pages so far, a part of their addresses
    size: tuple[int, int] = (0, 0)
    features: dict[str, str] = field(default_factory=dict)  # the media features that are emulated

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
        # Scripts may still reach the page before.
        is_read = "return location.search === arguments[0] && document.querySelector('[aria-busy=true]') === null"
        self.wait(is_read, f"?{self.loads}")

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a script returns."""
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[WebElement]:
        """The elements of a CSS selector."""
        found: list[WebElement] = self.driver.find_elements("css selector", selector)
        return found

    def one(self, selector: str) -> WebElement:
        """The only element of a CSS selector."""
        (found,) = self.all(selector)
        return found

    def each(self, selector: str, expression: str) -> list[Any]:
        """The value of an expression in JavaScript about ``each`` element of a CSS selector, hidden ones included."""
        found: list[Any] = self.run(
            f"return [...document.querySelectorAll(arguments[0])].map((each) => {expression})", selector
        )
        return found

    def shown(self, selector: str) -> list[bool]:
        """Whether each element is displayed. WebDriver sends a large script for the answer about one element."""
        return self.each(selector, "each.checkVisibility()")

    def texts(self, selector: str) -> list[str]:
        """The text of each element, hidden ones included."""
        return self.each(selector, "each.textContent")

    def press(self, *keys: str) -> None:
        """Press keys in the element that has the focus."""
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            self.driver.switch_to.active_element.send_keys(getattr(Keys, key, key))

    def wait(self, script: str, *arguments: Any) -> Any:
        """Wait until a script returns a true value, and return that value."""
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(self.driver, 10, 0.02).until(lambda _: self.run(script, *arguments))

    def cdp(self, command: str, parameters: dict[str, Any]) -> Any:
        """The answer to a command of Chromium's protocol."""
        return self.driver.execute_cdp_cmd(command, parameters)

    def resize(self, width: int, height: int = 1000) -> None:
        """Set the size of the page, unless it has it: every time the page is laid out and drawn again."""
        if self.size != (width, height):
            self._resize(width, height)
            self.size = (width, height)

    def _resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.cdp("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, **features: str) -> None:
        """Emulate media features, as in ``prefer(prefers_color_scheme="dark")``; without any, the browser's own."""
        if self.features != features:
            self._prefer(features)
            self.features = features

    def _prefer(self, features: dict[str, str]) -> None:
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.cdp("Emulation.setEmulatedMedia", {"features": named})

    def console(self) -> list[str]:
        """The errors and warnings in the console since the last call."""
        messages = [str(entry["message"]) for entry in self.driver.get_log("browser")]
        return self.unexpected(messages)

    def unexpected(self, messages: list[str]) -> list[str]:
        """Messages that the test has not provoked."""
        return [text for text in messages if not any(part in text for part in self.expected)]

    def requests(self) -> list[str]:
        """The addresses that pages have requested since the last call, except for the pages and what is in them."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        urls = [each["request"]["url"] for each in sent if each.get("type") != "Document"]
        return [url for url in urls if not url.startswith("data:")]


# Firefox has these only for its own scripts.
WATCH = """
window.reshuffleRequests = [];
Services.obs.addObserver((channel) => {
  channel.QueryInterface(Ci.nsIHttpChannel);
  if (channel.loadInfo.browsingContextID) window.reshuffleRequests.push(channel.URI.spec);
}, "http-on-modify-request");
"""
CONSOLE = """
// The sizes of texts are measured before the page is complete: that matters only for style sheets in files.
const found = Services.console.getMessageArray()
  .filter((each) => each instanceof Ci.nsIScriptError && each.sourceName.startsWith("file:"))
  .map((each) => each.message)
  .filter((message) => !message.includes("Layout was forced before the page was fully loaded"));
Services.console.reset();
return found;
"""
# Elements as they are, all else as JSON.
AS_OF_PAGE = """async (...sent) => {
  const given = sent.map((each) => typeof each === "string" ? JSON.parse(each) : each);
  const value = await (function () { SCRIPT }).apply(null, given);
  const isNode = (each) => each instanceof Node;
  return isNode(value) || (Array.isArray(value) && value.some(isNode)) ? value : JSON.stringify(value ?? null);
}"""
# The settings that stand for media features.
PREFERENCES = {
    "prefers_color_scheme": ("layout.css.prefers-color-scheme.content-override", {"dark": 0, "light": 1}, 2),
    "prefers_reduced_motion": ("ui.prefersReducedMotion", {"reduce": 1, "no-preference": 0}, 0),
    "forced_colors": ("browser.display.document_color_use", {"active": 2, "none": 0}, 0),
}


class FirefoxBrowser(Browser):
    """Firefox, which is asked in other ways."""

    def cdp(self, command: str, parameters: dict[str, Any]) -> Any:
        """Firefox has no such protocol."""
        pytest.skip(f"{command} is a command of Chromium's protocol")

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a script returns. It is called as the page's own, because WebDriver's scripts do not see the
        constants of a page.
        """
        from selenium.common.exceptions import JavascriptException
        from selenium.webdriver.remote.webelement import WebElement

        def sent(value: Any) -> dict[str, Any]:
            return (
                {"sharedId": value.id}
                if isinstance(value, WebElement)
                else {"type": "string", "value": json.dumps(value)}
            )

        answer = self.driver.script.call_function(
            AS_OF_PAGE.replace("SCRIPT", script),
            await_promise=True,
            target={"context": self.driver.current_window_handle},
            arguments=[*map(sent, arguments)],
        )
        if answer["type"] == "exception":
            raise JavascriptException(answer["exceptionDetails"]["text"])
        return self._received(answer["result"])

    def _received(self, found: dict[str, Any]) -> Any:
        if found["type"] == "array":
            return [*map(self._received, found["value"])]
        return (
            self.driver.create_web_element(found["sharedId"]) if found["type"] == "node" else json.loads(found["value"])
        )

    def chrome(self, script: str, *arguments: Any) -> Any:
        """The value of a script of the browser itself."""
        with self.driver.context(self.driver.CONTEXT_CHROME):
            return self.driver.execute_script(script, *arguments)

    def _resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self.driver.browsing_context.set_viewport(context=self.driver.current_window_handle, viewport=size)

    def _prefer(self, features: dict[str, str]) -> None:
        for feature, (name, values, default) in PREFERENCES.items():
            value = values[features[feature]] if feature in features else default
            self.chrome("Services.prefs.setIntPref(arguments[0], arguments[1])", name, value)

    def console(self) -> list[str]:
        """The errors and warnings of scripts, styles and the content security policy since the last call."""
        return self.unexpected(self.chrome(CONSOLE))

    def requests(self) -> list[str]:
        """The addresses that pages have requested since the last call."""
        found: list[str] = self.chrome("return window.reshuffleRequests.splice(0)")
        return found


def _chromium(binary: str, driver: str) -> Any:
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = binary
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return Chrome(options=options, service=Service(driver))


def _firefox(binary: str, driver: str) -> Any:
    from selenium.webdriver import Firefox, FirefoxOptions
    from selenium.webdriver.firefox.service import Service

    options = FirefoxOptions()
    options.binary_location = binary
    options.add_argument("-headless")
    options.set_preference("ui.useOverlayScrollbars", 1)  # which take no room, as in Chromium without them
    options.enable_bidi = True  # which sets the size of the page
    # System access is for scripts of the browser itself, which see the console and all requests.
    return Firefox(options=options, service=Service(driver, service_args=["--allow-system-access"]))


@pytest.fixture(scope="session")
def browser_of_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of a process: it takes two seconds to start."""
    pytest.importorskip("selenium")
    kind = os.environ.get("RESHUFFLE_BROWSER", "chromium")
    programs, of_driver = PROGRAMS[kind]
    binary, driver = next(filter(None, map(shutil.which, programs)), None), shutil.which(of_driver)
    if binary is None or driver is None:
        pytest.skip(f"no {kind if binary is None else of_driver}: install it")
    started = _firefox(binary, driver) if kind == "firefox" else _chromium(binary, driver)
    folder = tmp_path_factory.mktemp("pages")
    try:
        if kind == "firefox":
            found = FirefoxBrowser(started, folder)
            found.chrome(WATCH)
            yield found
        else:
            yield Browser(started, folder)
    finally:
        started.quit()


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
    # Otherwise this page would be laid out again for the size of the next test.
    started.run("document.documentElement.hidden = true")
    console, requests = started.console(), started.requests()
    assert console == [], f"in the console: {console}"
    assert requests == [], f"requested: {requests}"
