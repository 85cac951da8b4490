// Command omcheck reads an OpenMetrics exposition from standard input with the
// parser of Prometheus, and fails where it would. It prints how many families and
// samples there are.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = check(os.Stdout, text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func check(out io.Writer, text []byte) error {
	p := textparse.NewOpenMetricsParser(text, labels.NewSymbolTable())
	families, samples := 0, 0
	seen := map[string]bool{}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			_, err := fmt.Fprintf(out, "%d families, %d samples\n", families, samples)
			return err
		}
		if err != nil {
			return fmt.Errorf("after %d samples: %w", samples, err)
		}
		switch entry {
		case textparse.EntryType:
			families++
		case textparse.EntrySeries:
			var series labels.Labels
			p.Labels(&series)
			key := series.String()
			if seen[key] {
				return fmt.Errorf("%s is there twice", key)
			}
			seen[key] = true
			samples++
		}
	}
}
