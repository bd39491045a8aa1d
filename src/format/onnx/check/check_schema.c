/* The rows of the schema, and their little languages. */
#include "format/onnx/check/check.h"

#include <stdlib.h>
#include <string.h>

static const mw__onnx_schema schemas[] = {
#define MW_ONNX_SCHEMA(operator, inputs, results, types, attributes, ranks)                                            \
    {#operator, inputs, results, types, attributes, ranks},
#include "format/onnx/schemas.def"
#undef MW_ONNX_SCHEMA
};

static int compare_names(const void *key, const void *row) { return strcmp(key, ((const mw__onnx_schema *)row)->name); }

const mw__onnx_schema *mw__onnx_schema_find(const char *operation)
{
    return bsearch(operation, schemas, sizeof schemas / sizeof *schemas, sizeof *schemas, compare_names);
}

bool mw__onnx_schema_word(const char **list, char out[MW__ONNX_WORD])
{
    *list += strspn(*list, " ");
    const size_t length = strcspn(*list, " ");
    const size_t taken = length < MW__ONNX_WORD - 1 ? length : MW__ONNX_WORD - 1;
    memcpy(out, *list, taken);
    out[taken] = '\0';
    *list += length;
    return length > 0;
}

static int type_of(char digit) { return digit >= 'A' ? digit - 'A' + 10 : digit - '0'; }

/* The digits of a name; NULL if the schema lacks it, as one that is itself the digit of a type. */
static const char *digits_of(const char *types, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = types; (at = strstr(at, name)) != NULL; at += length)
        if ((at == types || at[-1] == ' ') && at[length] == ':')
            return at + length + 1;
    return NULL;
}

bool mw__onnx_schema_allows(const char *types, const char *name, int type)
{
    const char *digits = digits_of(types, name);
    if (digits == NULL)
        return type_of(name[0]) == type;
    if (*digits == ' ' || *digits == '\0') /* sequences and the like, which have no element type */
        return true;
    for (; *digits != ' ' && *digits != '\0'; digits++)
        if (type_of(*digits) == type)
            return true;
    return false;
}

int mw__onnx_schema_only_type(const char *types, const char *name)
{
    const char *digits = digits_of(types, name);
    if (digits == NULL)
        return name[0] != '\0' ? type_of(name[0]) : 0;
    return digits[0] != '\0' && digits[0] != ' ' && (digits[1] == ' ' || digits[1] == '\0') ? type_of(digits[0]) : 0;
}

const Mw__Onnx__Attribute *mw__onnx_schema_attribute(const Mw__Onnx__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (strcmp(node->attribute[i]->name, name) == 0)
            return node->attribute[i];
    return NULL;
}
