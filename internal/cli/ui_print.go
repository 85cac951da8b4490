package cli

import (
	"fmt"
	"net"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// servedDocument says where the page is (docs/schema/ui.json).
type servedDocument struct {
	view.Head `json:",inline"`
	// URL is what a browser opens. It works once.
	URL     string `json:"url"`
	Address string `json:"address"`
	Port    int    `json:"port"`
}

// printAddress says where the page is.
func (o *uiOptions) printAddress(url string, at *net.TCPAddr) error {
	if o.Output == "json" {
		doc := servedDocument{Head: view.Head{APIVersion: view.APIVersion, Kind: "Served"}, URL: url, Address: at.IP.String(), Port: at.Port}
		if err := o.Write(view.Output{Document: doc}); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(o.Env.Out, "the page: %s\n", url); err != nil {
		return err
	}
	o.Say("Ctrl-C ends it")
	return nil
}
