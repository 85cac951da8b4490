package render_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// manualPage has one of everything that a page can hold.
func manualPage(message string) *view.Page {
	return &view.Page{Sections: []view.Section{
		{Title: "NAME", Blocks: []view.Block{
			{Text: "Shop - A shop with its shelves,\nits counter and its cellar, " + message},
			{Pairs: []view.Pair{{Term: "Names", Text: "shops, shop, sh"}, {Term: "Versions", Text: "v1 (stored); also served: v1beta1 (deprecated), v1alpha2 (deprecated), v1alpha1 (deprecated)"}, {Term: "Größe", Text: message}}},
		}},
		{Title: "COMPOSITION", Blocks: []view.Block{{Table: people()}, {Text: "That is all."}}},
		{Title: "FIELDS", Blocks: []view.Block{{Items: []view.Item{
			{Head: "spec.replicas", Note: "integer, default 1", Text: "How many. At least one."},
			{Head: "spec.aVeryLongNameOfAField.and.another", Note: "string, one of First | Second | Third | Fourth | Fifth | Sixth | Seventh"},
			{Head: "spec.anUnbrokenNameThatIsLongerThanAnyLineHereAndIsNeverCutWhateverHappensSinceItIsToBeCopied", Text: message},
		}}}},
		{Title: "USAGE", Blocks: []view.Block{
			{Verbatim: "Do\tthis:\r\n\n  kubectl apply -f a-file-with-a-name-that-is-longer-than-the-terminal-is-wide-and-is-not-broken.yaml\n" + message + "\n\n"},
		}},
	}}
}

func TestGoldenOfPages(t *testing.T) {
	for _, w := range []int{0, 200, 80, 40} {
		golden(t, fmt.Sprintf("page.text.%d", w), text(t, "text", view.Output{Page: manualPage("as it is")}, render.Options{Width: w}))
	}
	golden(t, "unsafe.text", text(t, "text", view.Output{Page: manualPage(unsafeMessage)}, render.Options{Width: 80}))
}
