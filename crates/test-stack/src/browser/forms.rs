//! The forms of the app's pages, submitted as by a browser without scripts.

use crate::browser::PlainBrowser;
use crate::http::answer::HttpAnswer;

/// The values of the inputs of a page's form, as a browser would send them.
pub fn inputs(page: &HttpAnswer, after: &str) -> Vec<(String, String)> {
    let (_, form) = page.body.split_once(after).expect(&page.body);
    let (form, _) = form.split_once("</form>").unwrap();
    let mut values = Vec::new();
    let mut rest = form;
    while let Some((_, tags)) = rest.split_once('<') {
        rest = tags;
        let (tag, after) = rest.split_once('>').unwrap();
        let Some(name) = attribute(tag, "name") else {
            continue;
        };
        if tag.starts_with("input") && !tag.contains("type=\"checkbox\"") {
            values.push((name, attribute(tag, "value").unwrap_or_default()));
        } else if tag.starts_with("textarea") {
            let text = after.split_once("</textarea>").unwrap().0;
            values.push((name, unescaped(text.strip_prefix('\n').unwrap_or(text))));
        } else if tag.starts_with("select") {
            let options = after.split_once("</select>").unwrap().0;
            let chosen = options
                .split("<option ")
                .skip(1)
                .find(|it| it.contains(" selected"));
            let chosen = chosen.or_else(|| options.split("<option ").nth(1));
            let value = chosen.and_then(|it| it.split_once("value=\"")?.1.split_once('"'));
            values.push((name, value.map_or_else(String::new, |it| unescaped(it.0))));
        }
    }
    values
}

/// The value of an attribute in the text of a tag; `None` if the tag lacks it.
pub fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    Some(unescaped(value.split_once('"')?.0))
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

/// Submits a form with some values changed.
pub async fn post(
    browser: &mut PlainBrowser<'_>,
    address: &str,
    values: &[(String, String)],
    changes: &[(&str, &str)],
) -> HttpAnswer {
    let mut sent: Vec<(&str, &str)> = values
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    for (name, value) in changes {
        sent.retain(|(known, _)| known != name);
        sent.push((name, value));
    }
    browser.post(address, &sent).await
}

/// Submits a form with some values changed, and follows the redirect to a page.
pub async fn post_through(
    browser: &mut PlainBrowser<'_>,
    address: &str,
    values: &[(String, String)],
    changes: &[(&str, &str)],
) -> HttpAnswer {
    let mut answer = post(browser, address, values, changes).await;
    while answer.status == 303 {
        let next = answer.header("location").unwrap().to_owned();
        let next = next.split('#').next().unwrap_or_default();
        answer = browser.get(next).await;
    }
    answer
}
