"""The shipped contract; add tests of what the plugin does beside it."""

from eagle_rag.testing.plugin_contract import PluginContract

from eagle_example.plugin import ExamplePlugin


class TestExamplePlugin(PluginContract):
    """Everything the loader and the bus will ask for."""

    def make_plugin(self) -> ExamplePlugin:
        """Return a fresh plugin."""
        return ExamplePlugin()

    def test_an_abstaining_plugin_leaves_the_query_alone(self) -> None:
        """Replace this by what your plugin does."""
        assert self.load().bus.implements("query_assemble") == ("example",)
