"""What a drug label says about its products: names, ingredients, codes, approval."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_biomed.formats.xml_nodes import (
    attribute,
    children,
    first,
    inline_text,
    name_of,
    text_at,
)
from eagle_rag.ops.markup import fold_space

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["Ingredient", "Product", "product_lines", "read_products", "unique"]

_PRODUCTS = ("manufacturedProduct", "manufacturedMedicine", "partProduct", "partMedicine")
_PACKAGES = ("asContent", "containerPackagedProduct", "containerPackagedMedicine")
_NDC = "2.16.840.1.113883.6.69"
_UNII = "2.16.840.1.113883.4.9"
_INACTIVE = frozenset({"IACT", "INGR", "COLR", "FLVR", "PRSV", "CNTM"})
_INGREDIENTS = ("ingredient", "activeIngredient", "inactiveIngredient")
_SUBSTANCES = (
    "ingredientSubstance",
    "activeIngredientSubstance",
    "inactiveIngredientSubstance",
)


@dataclass(frozen=True, slots=True)
class Ingredient:
    """An ingredient: its name, its UNII or empty, its strength such as ``40 mg / 0.8 mL``."""

    name: str
    unii: str
    strength: str
    active: bool


@dataclass(frozen=True, slots=True)
class Product:
    """A product, or a part of a kit; everything it does not say is empty.

    Args:
        name: Brand name with its suffix.
        generics: Generic names.
        form: Dosage form.
        routes: Routes of administration.
        ingredients: Active and inactive, in order.
        ndcs: Codes of the product and of its packages.
        category: Marketing category, such as ``BLA``.
        application: Number of the approval, such as ``BLA125057``.
        schedule: Schedule of a controlled substance.
    """

    name: str
    generics: tuple[str, ...]
    form: str
    routes: tuple[str, ...]
    ingredients: tuple[Ingredient, ...]
    ndcs: tuple[str, ...]
    category: str
    application: str
    schedule: str

    def active(self) -> tuple[Ingredient, ...]:
        """Return its active ingredients."""
        return tuple(one for one in self.ingredients if one.active)


def unique(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values without blanks and repeats, in order."""
    return tuple(dict.fromkeys(filter(None, values)))


def read_products(root: "etree._Element") -> tuple[Product, ...]:
    """Return every product of a label, parts of kits after their kit."""
    return tuple(
        _product(element)
        for element in root.iter()
        if name_of(element) in _PRODUCTS
        and (first(element, "name") is not None or first(element, "code") is not None)
    )


def product_lines(products: Iterable[Product]) -> tuple[str, ...]:
    """Return one line of plain text a product, repeats left out."""
    return unique(map(_line, products))


def _product(element: "etree._Element") -> Product:
    around = element.getparent()
    scopes = [element] if around is None else [element, around]
    approvals = [found for scope in scopes for found in _subjects(scope, "approval")]
    policies = [found for scope in scopes for found in _subjects(scope, "policy")]
    return Product(
        name=_name(first(element, "name")),
        generics=unique(
            text_at(medicine, "name")
            for generic in children(element, "asEntityWithGeneric")
            for medicine in children(generic, "genericMedicine")
        ),
        form=attribute(element, ("formCode",), "displayName"),
        routes=unique(route for scope in scopes for route in _routes(scope)),
        ingredients=tuple(_ingredients(element)),
        ndcs=unique(_codes(element)),
        category=next((attribute(one, ("code",), "displayName") for one in approvals), ""),
        application=next((attribute(one, ("id",), "extension") for one in approvals), ""),
        schedule=next((attribute(one, ("code",), "displayName") for one in policies), ""),
    )


def _name(element: "etree._Element | None") -> str:
    return "" if element is None else inline_text(element, spaced=frozenset({"suffix"}))


def _subjects(scope: "etree._Element", name: str) -> Iterator["etree._Element"]:
    for subject in children(scope, "subjectOf"):
        yield from children(subject, name)


def _routes(scope: "etree._Element") -> Iterator[str]:
    for consumed in children(scope, "consumedIn"):
        for administration in children(consumed, "substanceAdministration"):
            yield attribute(administration, ("routeCode",), "displayName")


def _codes(element: "etree._Element") -> Iterator[str]:
    """Yield the product's own code and those of its packages, but not those of its parts."""
    for child in element:
        if name_of(child) == "code" and child.get("codeSystem") == _NDC:
            yield fold_space(child.get("code") or "")
        elif name_of(child) in _PACKAGES:
            yield from _codes(child)


def _ingredients(element: "etree._Element") -> Iterator[Ingredient]:
    for one in children(element, *_INGREDIENTS):
        substance = next(children(one, *_SUBSTANCES), None)
        name = text_at(substance, "name")
        if not name:
            continue
        code = first(substance, "code")
        unii = code is not None and code.get("codeSystem") in (_UNII, None)
        inactive = one.get("classCode") in _INACTIVE or name_of(one) == "inactiveIngredient"
        yield Ingredient(
            name=name,
            unii=attribute(code, (), "code") if unii else "",
            strength=_strength(first(one, "quantity")),
            active=not inactive,
        )


def _strength(quantity: "etree._Element | None") -> str:
    above, below = _amount(first(quantity, "numerator")), _amount(first(quantity, "denominator"))
    return f"{above} / {below}" if above and below and below != "1" else above


def _amount(element: "etree._Element | None") -> str:
    value, unit = attribute(element, (), "value"), attribute(element, (), "unit")
    return value if unit in ("", "1") else f"{value} {unit}".strip()


def _line(product: Product) -> str:
    active = "; ".join(map(_ingredient_words, product.active()))
    inactive = "; ".join(one.name for one in product.ingredients if not one.active)
    approval = " ".join(filter(None, (product.category, product.application)))
    generic = ", ".join(product.generics)
    name = f"{product.name} ({generic})" if product.name and generic else product.name or generic
    parts = (
        ", ".join(filter(None, (name, product.form.lower(), ", ".join(product.routes).lower()))),
        active and f"Active ingredients: {active}",
        inactive and f"Inactive ingredients: {inactive}",
        ", ".join(product.ndcs) and f"NDC: {', '.join(product.ndcs)}",
        approval and f"Marketing category: {approval}",
        product.schedule and f"Schedule: {product.schedule}",
    )
    return ". ".join(filter(None, parts))


def _ingredient_words(one: Ingredient) -> str:
    unii = one.unii and f"(UNII {one.unii})"
    return " ".join(filter(None, (one.name, one.strength, unii)))
