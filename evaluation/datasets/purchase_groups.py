"""Groups of purchases, the sensitive values of `households`: categories and departments of the store, by group."""

CATEGORIES: dict[str, tuple[str, ...]] = {
    "fuel": ("FUEL",),
    "alcohol": ("BEERS/ALES", "DOMESTIC WINE", "IMPORTED WINE", "LIQUOR", "MISC WINE"),
    "tobacco": ("CIGARETTES", "CIGARS", "SMOKING CESSATIONS", "TOBACCO OTHER"),
    "baby": ("BABY FOODS", "BABY HBC", "BABYFOOD", "DIAPERS & DISPOSABLES", "INFANT CARE PRODUCTS", "INFANT FORMULA"),
    "pets": ("BIRD SEED", "CAT FOOD", "CAT LITTER", "DOG FOODS", "PET CARE SUPPLIES"),
    "health": (
        "ADULT INCONTINENCE", "ANALGESICS", "ANTACIDS", "COLD AND FLU", "DIETARY AID PRODUCTS", "EYE AND EAR CARE PRODUCTS",
        "FAMILY PLANNING", "FEMININE HYGIENE", "FIRST AID PRODUCTS", "FITNESS&DIET", "FOOT CARE PRODUCTS", "HOME HEALTH CARE",
        "LAXATIVES", "NATURAL VITAMINS", "PHARMACY", "SINUS AND ALLERGY", "VITAMINS",
    ),
    "personal care": (
        "DEODORANTS", "ETHNIC PERSONAL CARE", "HAIR CARE ACCESSORIES", "HAIR CARE PRODUCTS", "HAND/BODY/FACIAL PRODUCTS",
        "ORAL HYGIENE PRODUCTS", "PERSONAL CARE APPLIANCES", "SHAVING CARE PRODUCTS", "SOAP - LIQUID & BAR", "SUNTAN",
    ),
    "dairy": (
        "BUTTER", "CANNED MILK", "CHEESE", "EGGS", "FLUID MILK PRODUCTS", "MARGARINES", "MILK BY-PRODUCTS", "MISC. DAIRY",
        "YOGURT",
    ),
    "frozen": (
        "FROZEN BREAD/DOUGH", "FROZEN CHICKEN", "FROZEN PIE/DESSERTS", "FROZEN PIZZA", "FRZN BREAKFAST FOODS", "FRZN FRUITS",
        "FRZN ICE", "FRZN JCE CONC/DRNKS", "FRZN MEAT/MEAT DINNERS", "FRZN NOVELTIES/WTR ICE", "FRZN POTATOES", "FRZN SEAFOOD",
        "FRZN VEGETABLE/VEG DSH", "ICE CREAM/MILK/SHERBTS",
    ),
    "drinks": (
        "CANNED JUICES", "COCOA MIXES", "COFFEE", "ISOTONIC DRINKS", "NEW AGE", "PWDR/CRYSTL DRNK MX", "REFRGRATD JUICES/DRNKS",
        "SOFT DRINKS", "TEAS", "WATER - CARBONATED/FLVRD DRINK",
    ),
    "snacks": (
        "BAG SNACKS", "BAKED SWEET GOODS", "CANDY - CHECKLANE", "CANDY - PACKAGED", "CONVENIENT BRKFST/WHLSM SNACKS",
        "COOKIES/CONES", "CRACKERS/MISC BKD FD", "SNACK NUTS", "WAREHOUSE SNACKS",
    ),
    "bakery": ("BAKED BREAD/BUNS/ROLLS",),
    "household": (
        "AIR CARE", "BATH TISSUES", "BLEACH", "BROOMS AND MOPS", "DISHWASH DETERGENTS", "FACIAL TISS/DNR NAPKIN",
        "FD WRAPS/BAGS/TRSH BG", "HOUSEHOLD CLEANG NEEDS", "IRONING AND CHEMICALS", "LAUNDRY ADDITIVES", "LAUNDRY DETERGENTS",
        "PAPER HOUSEWARES", "PAPER TOWELS",
    ),
}  # fmt: skip
"""Product categories of each group. They come before the department of the product."""

DEPARTMENTS: dict[str, tuple[str, ...]] = {
    "fuel": ("FUEL",),
    "alcohol": ("SPIRITS",),
    "personal care": ("COSMETICS",),
    "meat and fish": ("MEAT", "MEAT-PCKGD", "SEAFOOD", "SEAFOOD-PCKGD"),
    "fruit and vegetables": ("PRODUCE",),
    "frozen": ("FROZEN GROCERY",),
    "bakery": ("PASTRY",),
    "ready meals": ("CHEF SHOPPE", "DELI", "RESTAURANT", "SALAD BAR"),
    "pantry": ("GROCERY", "NUTRITION"),
}
"""Departments of each group, for products whose category is in none."""

OTHER = "other"
"""Group of all other products: flowers, magazines, school supplies, tickets, products without a department."""

GROUPS = (*dict.fromkeys([*CATEGORIES, *DEPARTMENTS]), OTHER)
"""The sensitive domain: 18 groups of purchases."""
