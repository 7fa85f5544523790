"""What a reviewer sees and does."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from conftest import SCREENSHOTS

LIMIT = "send-otp.ip"
QUERY = "?env=prod"


def status_of(page, limit):
    return page.locator(f'[data-limit="{limit}"]').first.get_attribute("data-status")


def limits(page, site):
    """The limits of the report that the page shows."""
    report = page.request.get(f"{site}/v1/calibration{QUERY}&format=json").json()
    return {limit["id"]: limit for group in report["groups"] for limit in group["limits"]}


def what_if(page):
    """What the page says of the value that is tried: requests and windows."""
    return [page.locator(f"#what-if-{what}").get_attribute("data-value") for what in ("requests", "windows")]


def test_the_overview_shows_every_limit_as_the_api_has_it(tab, site):
    page = tab(f"/{QUERY}")
    expected = limits(page, site)
    assert len(expected) > 20
    for limit_id, limit in expected.items():
        assert status_of(page, limit_id) == limit["status"], limit_id
    assert status_of(page, LIMIT) == "over"


def test_a_limit_is_reached_from_the_overview_by_keyboard(tab):
    page = tab(f"/{QUERY}")
    page.locator(f'[data-limit="{LIMIT}"] a').first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/limits/{LIMIT}?**")
    assert LIMIT in page.locator("h1").inner_text()


def test_the_overview_shows_alerts_as_the_api_has_them(tab, site):
    page = tab(f"/{QUERY}")
    alerts = page.request.get(f"{site}/v1/alerts{QUERY}").json()
    alerted = page.locator("[data-alerted]").evaluate_all("rows => rows.map(row => row.dataset.alerted)")
    assert alerted == [own["limit"] or own["key"] for own in alerts["standings"]]
    # What was told last opens by keyboard, and is in English in every language.
    assert alerts["alerts"]
    page.locator(".alerts summary").press("Enter")
    titles = page.locator(".told > li > [lang=en]")
    assert titles.first.is_visible()
    assert titles.all_inner_texts() == [alert["title"] for alert in alerts["alerts"][:10]]


@pytest.mark.parametrize("limit", [LIMIT, "verify.ip", "send-otp.usuario", "messaging-quota.session"])
def test_what_if_in_the_browser_equals_the_api(tab, site, limit):
    page = tab(f"/{QUERY}")
    if limit not in limits(page, site):
        pytest.skip(f"the demo has no {limit}")
    page = tab(f"/limits/{limit}{QUERY}")
    value = page.locator("#what-if-limit")
    for tried in (1, 2, 3, 5, 8, 11, 19, 23, 24, 25, 1000):
        value.fill(str(tried))
        answer = page.request.get(f"{site}/v1/limits/{limit}/whatif{QUERY}&limit={tried}").json()
        assert what_if(page) == [str(answer["requests"]), str(answer["identity_windows"])], tried


def test_the_value_can_be_moved_by_keyboard(tab):
    page = tab(f"/limits/{LIMIT}{QUERY}")
    slider = page.locator("#what-if input[type=range]")
    slider.focus()
    page.keyboard.press("Home")
    tight = int(what_if(page)[0])
    page.keyboard.press("End")
    assert tight > int(what_if(page)[0]) == 0


def test_the_chart_is_drawn_over_its_first_paint(tab):
    page = tab(f"/limits/{LIMIT}{QUERY}")
    page.wait_for_selector(".uplot canvas")


def test_without_script_the_figures_are_there_all_the_same(tab, site):
    page = tab(f"/limits/{LIMIT}{QUERY}&limit=11", java_script_enabled=False)
    answer = page.request.get(f"{site}/v1/limits/{LIMIT}/whatif{QUERY}&limit=11").json()
    assert what_if(page) == [str(answer["requests"]), str(answer["identity_windows"])]
    assert page.locator("svg").count() > 0


def test_the_language_is_the_browsers_and_can_be_switched(tab):
    page = tab(f"/{QUERY}", locale="pt-BR")
    assert page.locator("html").get_attribute("lang") == "pt-BR"
    page.locator('#language a[hreflang="en"]').click()
    page.wait_for_load_state("networkidle")
    assert page.locator("html").get_attribute("lang") == "en"
    # It stays so on the next page.
    page.locator(f'[data-limit="{LIMIT}"] a').first.click()
    page.wait_for_url("**/limits/**")
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("language", ["en-GB", "pt-BR"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("name, path", [("overview", f"/{QUERY}"), ("limit", f"/limits/{LIMIT}{QUERY}")])
def test_everybody_can_use_it(tab, name, path, width, scheme, language):
    page = tab(path, viewport={"width": width, "height": 900}, color_scheme=scheme, locale=language)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}-{width}-{scheme}-{language[:2]}.png", full_page=True)
    # Nothing hangs out at the side.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    serious = [violation for violation in found if violation["impact"] in ("serious", "critical")]
    assert not serious, [(rule["id"], [node["html"] for node in rule["nodes"]][:3]) for rule in serious]


def test_it_prints(tab):
    page = tab(f"/{QUERY}")
    page.emulate_media(media="print")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.pdf(path=SCREENSHOTS / "overview.pdf", format="A4", print_background=False)
    assert page.locator("form").evaluate_all("forms => forms.every(form => form.offsetParent === null)")
