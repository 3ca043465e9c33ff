// From one scanned image to its table.

package command

import (
	"fmt"

	"svcrelay/cachefmt"
	"svcrelay/scanner"
	"svcrelay/scanner/elfimg"
)

// tableOf makes the table of a scanned image and checks it as a reader would.
func tableOf(img *elfimg.Image, scan *scanner.Result) (*cachefmt.Table, error) {
	t, err := cachefmt.FromSites(img, scanner.RecogniserVersion, scan.Window, scan.Sites)
	if err != nil {
		return nil, err
	}
	if err := cachefmt.Validate(t, img); err != nil {
		return nil, fmt.Errorf("the table does not fit its own image: %w", err)
	}
	return t, nil
}
