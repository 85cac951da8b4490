package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// canConfirm says whether there is a person to ask before something is written. Who is no
// terminal cannot be asked.
func (e Env) canConfirm() error {
	if file, ok := e.In.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return withHint(errors.New("nothing was done: there is nobody to ask (standard input is no terminal)"), "--yes does it without asking, --dry-run=server tries it")
	}
	return nil
}

// ask has a person type a word before something is written. An interrupt ends the waiting,
// not the reading.
func ask(ctx context.Context, in io.Reader, out io.Writer, what, word string) error {
	fmt.Fprintf(out, "%s\ntype %s to go on: ", safe(what), safe(word))
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // what ended early is no yes
		typed <- line
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case line := <-typed:
		if strings.TrimSpace(line) != word {
			return errors.New("nothing was done: it was not confirmed")
		}
		return nil
	}
}

// dryRuns are the values of --dry-run.
var dryRuns = []string{"none", "client", "server"}
