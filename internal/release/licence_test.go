package release

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func text(t *testing.T, id string) string {
	t.Helper()
	b, err := texts.ReadFile("licences/" + id + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	// Of alternatives nothing is taken: what is optional is left out.
	return strings.NewReplacer(
		"{{apache license version 2 0 january 2004 https? www apache org licenses terms and conditions for use reproduction and distribution}}",
		"Apache License\nVersion 2.0, January 2004\nhttp://www.apache.org/licenses/\nTERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION",
		"{{(?:a )?}}", "(a)", "{{(?:b )?}}", "(b)", "{{(?:c )?}}", "(c)", "{{(?:d )?}}", "(d)", "{{https?}}", "https:", "{{holders?}}", "HOLDERS",
		"{{(?:1 )?}}", "*", "{{(?:2 )?}}", "2.", "{{(?:not )?}}", "", "{{(?:copyright (?:owner|holders?)|regents)}}", "COPYRIGHT OWNER", "{{(?:and or|and)}}", "and/or",
		"{{(?:3 )?(?:neither (?:the )?names? of (?:\\w+ ){1,8}nor the|the)}} names of {{(?:its|the|his|their) (?:authors and )?}}",
		"3. Neither the name of Example Widgets, Inc. nor the names of its",
	).Replace(string(b))
}

func TestLicencesAreKnownByTheirText(t *testing.T) {
	c, err := newClassifier()
	if err != nil {
		t.Fatal(err)
	}
	header := "Copyright (c) 2019-2025 The Example Authors <a@example.org>. All rights reserved.\n\n"
	for name, one := range map[string]struct {
		text string
		want string
	}{
		"Apache":             {text(t, "Apache-2.0"), "Apache-2.0"},
		"Apache and its end": {text(t, "Apache-2.0") + "\nEND OF TERMS AND CONDITIONS\n\nCopyright 2020 X\n" + text(t, "Apache-2.0-notice"), "Apache-2.0"},
		"its notice":         {header + text(t, "Apache-2.0-notice"), "Apache-2.0"},
		"MIT":                {"The MIT License (MIT)\n\n" + header + text(t, "MIT"), "MIT"},
		"MIT in capitals":    {strings.ToUpper(text(t, "MIT")), "MIT"},
		"MIT wrapped anew":   {strings.Join(strings.Fields(text(t, "MIT")), "\r\n> "), "MIT"},
		"ISC":                {"ISC License\n" + header + text(t, "ISC"), "ISC"},
		"BSD with two":       {header + text(t, "BSD-2-Clause"), "BSD-2-Clause"},
		"BSD with three":     {header + text(t, "BSD-3-Clause"), "BSD-3-Clause"},
		"MPL":                {text(t, "MPL-2.0"), "MPL-2.0"},
		"two in a file":      {text(t, "Apache-2.0") + "\n====\nThe parts in internal/ are of:\n" + header + text(t, "BSD-3-Clause"), "Apache-2.0 BSD-3-Clause"},
	} {
		got, err := c.classify(one.text)
		if err != nil || strings.Join(got, " ") != one.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestTextsThatSayMoreOrElseAreUnknown(t *testing.T) {
	c, err := newClassifier()
	if err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]string{
		"nothing":           "",
		"a joke":            strings.Replace(text(t, "MIT"), "THE SOFTWARE IS PROVIDED", "The Software shall be used for Good, not Evil.\n\nTHE SOFTWARE IS PROVIDED", 1),
		"a clause besides":  text(t, "MIT") + "\nThe Software may not be sold (Commons Clause).",
		"fewer rights":      strings.Replace(text(t, "MIT"), "sublicense,", "", 1),
		"advertising (BSD)": strings.Replace(text(t, "BSD-3-Clause"), "3. Neither", "3. All advertising materials mentioning features of this software must display the following acknowledgement: X.\n\n4. Neither", 1),
		"no disclaimer":     strings.Replace(text(t, "BSD-2-Clause"), "EVEN IF ADVISED", "EVEN IF TOLD", 1),
		"GPL":               "This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License",
		"MIT or GPL":        "GNU GPL version 3, see COPYING, and for some files:\n" + text(t, "MIT"),
		"Apache, less":      strings.Replace(text(t, "Apache-2.0"), "3. Grant of Patent License", "3. No Patent License", 1),
	} {
		if got, err := c.classify(one); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestModulesWithoutALicenceOrWithAnother(t *testing.T) {
	c, err := newClassifier()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	deep := filepath.Join(root, "internal", "forked")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	folders := between(root, deep)
	read := func() (Licensed, error) {
		return c.licensed(Licensed{Module: "example.org/m", Version: "v1.0.0"}, root, folders)
	}
	write(t, filepath.Join(root, "license.go"), "package m")
	write(t, filepath.Join(root, "NOTICE"), "made by somebody\r\n")
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "example.org/m@v1.0.0: has no file with a licence") {
		t.Errorf("%v", err)
	}
	write(t, filepath.Join(root, "LICENSE.md"), "Copyright 2020 X\n\n"+text(t, "MIT"))
	write(t, filepath.Join(deep, "COPYING"), text(t, "BSD-2-Clause"))
	l, err := read()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range l.Texts {
		names = append(names, one.Name)
	}
	if l.Expression() != "BSD-2-Clause AND MIT" || !slices.Equal(names, []string{"LICENSE.md", "NOTICE", "internal/forked/COPYING"}) || l.Texts[1].Text != "made by somebody\n" {
		t.Errorf("%s, %v, %q", l.Expression(), names, l.Texts[1].Text)
	}
	write(t, filepath.Join(deep, "COPYING"), "All your base are belong to us")
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "example.org/m@v1.0.0: internal/forked/COPYING") {
		t.Errorf("%v", err)
	}
}

// TestEveryModuleOfThePlugin reads the licences of all platforms, as make licences does.
func TestEveryModuleOfThePlugin(t *testing.T) {
	o := tiny(t)
	o.Suite.Binary, o.Root = "kubectl-sysop", "../.."
	all, err := Licences(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		for _, id := range l.Licences {
			if allowed[id] == "" {
				t.Errorf("%s: %s", l.Module, id)
			}
		}
	}
	if !slices.ContainsFunc(all, func(l Licensed) bool { return l.Module == "github.com/Azure/go-ansiterm" }) {
		t.Error("a module that is needed on Windows alone is missing")
	}
}

func TestSameTextsAreThereOnce(t *testing.T) {
	one, other := Text{Name: "LICENSE", Text: "the same\n"}, Text{Name: "NOTICE", Notice: true, Text: "told\n"}
	o := tiny(t)
	got := string(thirdParty(o, []Licensed{
		{Module: "example.org/A", Version: "v1.0.0", Licences: []string{"MIT"}, Texts: []Text{one, other}},
		{Module: "example.org/b", Version: "v2.0.0+incompatible", Licences: []string{"MIT"}, Texts: []Text{one}},
	}))
	for want, times := range map[string]int{
		"the same": 1, "told": 1, "   example.org/b v2.0.0+incompatible, LICENSE:\n": 1, "https://proxy.golang.org/example.org/!a/@v/v1.0.0.zip": 1,
	} {
		if strings.Count(got, want) != times {
			t.Errorf("%q is not there %d times:\n%s", want, times, got)
		}
	}
}
