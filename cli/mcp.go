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
	"curtsy/storage"
)

func mcpCmd(u *ui) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp DIR...",
		Short: "let an assistant read archives (Model Context Protocol)",
		Long: "mcp serves archives to an assistant over stdin and stdout, by the Model Context Protocol. Its tools are\n" +
			"search, read (a page as Markdown, in parts), outline, links, changes and explain; pages are resources,\n" +
			"by their URL. It makes no request and changes nothing; index.db is kept up to date, as search does.\n\n" +
			"Answers name the URL and the time of the capture. Pages whose owner says ai-input=n are refused with\n" +
			"the statement, its line and version; what may not be shown or quoted in full is refused too.",
		Example: "  curtsy mcp example.org docs.example.org\n" +
			`  {"mcpServers": {"archive": {"command": "curtsy", "args": ["mcp", "/data/example.org"]}}}`,
		Args: atLeastOneDir,
		RunE: u.runs(func(ctx context.Context, dirs []string) error {
			return serveAssistant(ctx, u, dirs, &mcp.IOTransport{Reader: io.NopCloser(os.Stdin),
				Writer: unclosed{u.out}})
		}),
	}
}

// unclosed is a writer that the end of a session does not close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// serveAssistant answers until the session ends.
func serveAssistant(ctx context.Context, u *ui, dirs []string, t mcp.Transport) (err error) {
	defer storage.Guard(&err)()
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
