// Package security_test compares SECURITY.md with the tests of the checkout.
package security_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// claim is a sentence of SECURITY.md, by words of it, with the tests that fail if it is false:
// PACKAGE.TestName. A claim without tests has the reason why it cannot be tested.
type claim struct {
	words string
	tests []string
	why   string
}

func tested(words string, tests ...string) claim { return claim{words: words, tests: tests} }
func untested(words, reason string) claim        { return claim{words: words, why: reason} }

// claims are in the order of SECURITY.md.
var claims = []claim{
	untested("It is a client.", "what it is not"),
	untested("It trusts its user, the kubeconfig", "what it takes for given"),
	tested("They have no files, network, processes or clock, and limits of instructions, time and memory",
		"internal/luahealth.TestNothingElse", "internal/luahealth.TestHostile", "internal/luahealth.TestTimeLimit", "internal/luahealth.TestTotalLimit"),

	tested("Secrets and ConfigMaps are read as metadata; their values are never requested", "test/e2e.TestDataIsNeverRead", "pkg/source.TestValuesAreNeverRequested"),
	tested("the health rules in Argo CD's ConfigMap", "internal/luahealth.TestConfigMap"),
	tested("the ConfigMap key that a definition names as its manual", "pkg/source.TestManual", "test/e2e.TestManualWithFewRights"),
	tested("All Secrets with Helm's records in its namespace are listed for that", "test/e2e.TestHelmRelease", "internal/helm.TestDriverUnpacksWithinBounds"),
	tested("a Secret is read whole, as the API server has no other way to its keys", "internal/systems.TestExportTakesKeysAlone"),
	tested("the manifest and the journal of a System", "test/e2e.TestRegulateManifests"),
	tested("the journal of an installation", "internal/install.TestForgedJournals"),
	tested("an object that an action of a System names", "pkg/regulate.TestExec"),
	tested("an input of a System, for being there and having its keys", "test/e2e.TestInstallRights"),
	tested("Snapshots have no values of Secrets, ConfigMaps and environment variables", "pkg/source.TestRedact", "pkg/source.TestSnapshotWithDetail", "test/e2e.TestSnapshotKeepsSecrets"),

	tested("write to a cluster", "test/e2e.TestPermissionsOfEveryCommand"),
	tested("does not write. Rights are reviewed before the first write", "internal/install.TestRights", "pkg/permission.TestReview", "pkg/regulate.TestDryRun", "test/e2e.TestRegulateDryRun"),
	tested("sends dry runs", "pkg/source.TestDryRunWritesNothing", "test/e2e.TestAtomicWritesNothing"),
	untested("On the user's machine it writes files that it is told to", "a list of where; that nothing else is written is what no test can see"),

	tested("It listens on 127.0.0.1 alone", "internal/web.TestListener"),
	tested("Every request must name its own host and port", "internal/web.TestEveryRouteRefuses", "internal/web.TestOfNoPath"),
	tested("It is exchanged once for a bearer, and is worth nothing afterwards", "internal/web.TestToken", "internal/web.TestWrongTokensAreBounded"),
	tested("by a file with mode 0600, which is gone once the page was opened", "internal/cli.TestOpenHandsOverByFile", "internal/web.TestEntranceIsRemoved"),
	tested("carries the bearer in a header", "internal/web.TestAPIRefusesOthers"),
	tested("It is no cookie", "internal/web.TestNoCookie"),
	tested("There are no CORS headers", "internal/web.TestAPIRefusesOthers"),
	tested("Nothing that the page can ask for is stored in a cluster", "internal/web.TestComposeWrites", "internal/installer.TestDryRunAgreesToNothing"),
	tested("runs under a policy that allows its own script and style and nothing else", "internal/web.TestAnswers", "internal/page.TestPolicyOfFile", "internal/page.TestHostileTexts"),
	tested("Of annotations those that controllers and usual tools write are shown with their values", "internal/web.TestManifestHides", "internal/web.TestAnnotationsThatAreShown"),
	untested("What is exported or copied is on its own", "advice"),

	tested("they are escaped before they reach a terminal", "internal/render.TestEscape", "internal/render.TestEveryFormatEscapes"),
	tested("are rendered within bounds of time, memory, output and number of objects", "internal/chart.TestRenderBounds", "internal/chart.TestRenderRefusals"),
	tested("templates read nothing of the cluster", "internal/chart.TestLookupFindsNothing"),
	tested("no links, no names that lead out", "internal/fetch.TestUnpackRefuses", "internal/fetch.TestUnpackBombs", "internal/chart.TestLoadRefusals"),
	tested("Redirects to another host are followed where a digest or a key says", "internal/fetch.TestRedirects", "internal/fetch.TestTokensAreNotRedirected", "pkg/metrics.TestDirectIsNotRedirected"),
	tested("What is refused is not kept", "internal/fetch.TestNothingKeptOfWhatIsRefused"),
	tested("is shown by its host alone", "internal/fetch.TestErrorsTellNoSecrets", "internal/fetch.TestShown", "pkg/source.TestConnectErrorTellsNoSecrets"),
	tested("are verified before anything is looked into", "internal/fetch.TestSign", "internal/fetch.TestSignaturesOfOthers", "internal/fetch.TestProvenance", "internal/fetch.TestIndexDigest"),
	tested("is taken only if it has the name, and no lower a serial", "internal/fetch.TestSignedCatalogueIsNoOther", "internal/fetch.TestSignedCatalogueSaysWhatItLacks"),
	tested("of health rules has a cost limit for each expression and object", "pkg/health.TestRuleFails", "pkg/health.TestBudgetOfRun", "pkg/health.TestBudgetOfEndedExpression"),
	tested("are run by nobody but", "pkg/regulate.TestExec", "pkg/regulate.TestExecFails"),
	tested("what they add to a stream is bounded, and so is what gzip unpacks to", "pkg/strict.TestCheckBounds", "pkg/strict.TestGrowth", "pkg/source.TestRefusesWhatGrows",
		"internal/helm.TestManifestsOfRecordsGrowWithinBounds", "internal/helm.TestDriverUnpacksWithinBounds", "internal/cli.TestValuesGrowWithinBounds", "internal/cli.TestNameInWritesNothingOut"),

	untested("decide what is shown, never what is written", "what it follows from: rules are read by no command that writes"),
	untested("A digest says that a file is the one that was published", "a limit of digests"),
	tested("is held against no other, unless the settings have its name", "internal/fetch.TestSignedCatalogueHasTheNameOfTheSettings", "internal/catalogs.TestNameOfSignedCatalogue"),
	untested("Credentials of registries are read from docker's configuration", "a limit of what is named there"),

	tested("built again, bit for bit", "internal/release.TestLinkerFlagsAreThoseOfTheMakefile"),
	tested("Each release has `checksums.txt`", "internal/release.TestChecksumsAreReadAsWritten", "internal/release.TestEveryModuleOfThePlugin"),
	tested("CI looks for known vulnerabilities", "hack/workflows.TestReleaseIsGated", "hack/workflows.TestWritersRunNothing", "hack/workflows.TestDependabot"),
	tested("krew verifies the sum in its manifest", "test/krew.TestInstallFromCleanHome"),
}

// statements returns the paragraphs, items and rows of SECURITY.md, except the sections and items
// that are not about the program: how to report, and journals, which have tests of their own.
func statements(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	section := ""
	for _, block := range regexp.MustCompile(`\n(?:\n+|(?:- |\|))`).Split(flat(string(b)), -1) {
		block = strings.Join(strings.Fields(block), " ")
		if title, ok := strings.CutPrefix(block, "#"); ok {
			section = strings.Trim(title, "# ")
			continue
		}
		if section == "Reporting" || section == "Security" || strings.HasSuffix(block, "So:") || block == "" {
			continue
		}
		if strings.HasPrefix(block, "---") || strings.HasPrefix(strings.TrimLeft(block, "| "), "what |") {
			continue
		}
		out = append(out, block)
	}
	return out
}

// flat returns Markdown without the marks of links and of bold text.
func flat(text string) string {
	text = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(text, "$1")
	return strings.ReplaceAll(text, "**", "")
}

// testsOf returns the tests of the checkout: PACKAGE.TestName.
func testsOf(t *testing.T) map[string]bool {
	t.Helper()
	out, name := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && slices.Contains([]string{"node_modules", ".git", "testdata"}, d.Name()) {
			return cmpOr(err, fs.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			folder, _ := filepath.Rel("../..", filepath.Dir(path))
			out[filepath.ToSlash(folder)+"."+m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func cmpOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// TestSecurityIsTested: each claim is in SECURITY.md, its tests exist, and every statement has a
// claim.
func TestSecurityIsTested(t *testing.T) {
	all, tests := statements(t), testsOf(t)
	if len(all) < 30 || len(tests) < 1000 {
		t.Fatalf("%d statements and %d tests were found", len(all), len(tests))
	}
	claimed := map[string]bool{}
	for _, c := range claims {
		found := false
		for _, s := range all {
			if strings.Contains(s, c.words) {
				claimed[s], found = true, true
			}
		}
		if !found {
			t.Errorf("SECURITY.md does not say %q", c.words)
		}
		if (len(c.tests) == 0) != (c.why != "") {
			t.Errorf("%q has neither tests nor a reason for that, or both", c.words)
		}
		for _, name := range c.tests {
			if !tests[name] {
				t.Errorf("%q: there is no test %s", c.words, name)
			}
		}
	}
	for _, s := range all {
		if !claimed[s] && !strings.Contains(s, "ournal") {
			t.Errorf("no test stands for %q", s)
		}
	}
}
