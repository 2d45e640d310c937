#!/bin/sh
# junit-report-merger changes the texts of test reports that it merges: where a test is about escaped text, one level of
# escapes goes. A failure that says that `&lt;b&gt;` was expected and `<b>` came says after merging that `<b>` was
# expected and `<b>` came, so that the report of a failed test shows no difference; `R&amp;D` becomes `R&D` in names of
# tests as well, and two tests that differ in that alone have one name. It happens with a single report already, in
# attributes and in texts, not in CDATA; no error, no warning. Most would expect the texts of the reports, as another
# reader of XML finds them before and after. The manual says that it collects the suites and puts them together, and has
# nothing of it; a public issue of 2021 had an entity that made the merged report invalid, which is mended. Tests of
# exports and of pages, which compare escaped texts, have such messages.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact junit-report-merger@9.0.4 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'junit-report-merger' || exit 2
cat >report.xml <<'XML'
<testsuites><testsuite name="export" tests="2" failures="1">
<testcase classname="html" name="escapes R&amp;amp;D"/>
<testcase classname="html" name="escapes R&amp;D"><failure message="expected &quot;&amp;lt;b&amp;gt;&quot;, got &quot;&lt;b&gt;&quot;">wanted &amp;lt;b&amp;gt;, was &lt;b&gt;</failure></testcase>
<testcase classname="html" name="in CDATA"><failure message="m"><![CDATA[wanted &lt;b&gt;, was <b>]]></failure></testcase>
</testsuite></testsuites>
XML
echo "expected: the same names, messages and texts in the merged report, read by Python's reader of XML"
node_modules/.bin/jrm merged.xml report.xml >/dev/null
python3 - <<'PYTHON'
import sys
import xml.etree.ElementTree as xml


def texts(name):
    root = xml.parse(name).getroot()
    found = [case.get("name") for case in root.iter("testcase")]
    for failure in root.iter("failure"):
        found += [failure.get("message"), failure.text]
    return found


before, after = texts("report.xml"), texts("merged.xml")
for a, b in zip(before, after):
    print(f"{a}  ->  {b}")
is_so = before[:2] == ["escapes R&amp;D", "escapes R&D"] and after[:2] == ["escapes R&D"] * 2
lost = before[3:5] == ['expected "&lt;b&gt;", got "<b>"', "wanted &lt;b&gt;, was <b>"]
lost = lost and after[3:5] == ['expected "<b>", got "<b>"', "wanted <b>, was <b>"]
sys.exit(0 if is_so and lost and before[6] == after[6] else 1)
PYTHON
