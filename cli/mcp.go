package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"curtsy/publish/assistant"
	"curtsy/publish/pdf"
)

func mcpCmd(u *ui) *cobra.Command {
	return newCommand("mcp DIR...", nil, u.runs(func(ctx context.Context, dirs []string) error {
		return serveAssistant(ctx, u, dirs, &mcp.IOTransport{Reader: io.NopCloser(os.Stdin),
			Writer: unclosed{u.out}})
	}))
}

// unclosed is a writer that the end of a session does not close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// serveAssistant runs the MCP server until the session ends.
func serveAssistant(ctx context.Context, u *ui, dirs []string, t mcp.Transport) (err error) {
	sources, closeAll, err := openShelves(ctx, u, dirs)
	defer closeAll()
	if err != nil {
		return err
	}
	err = assistant.New(sources, assistant.Options{Version: version, PDF: pdf.Reader()}).Run(ctx, t)
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
