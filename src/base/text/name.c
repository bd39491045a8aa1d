/* What may be a name. */
#include "base/text/name.h"

#include "base/text/utf8.h"

#include <millwright/graph.h>
#include <string.h>

const char *mw__name_fault(const char *name)
{
    if (name == NULL || name[0] == '\0')
        return "is empty";
    const char *const end = name + strlen(name);
    for (size_t length; name < end; name += length) {
        length = mw__utf8_length(name, end);
        if (length == 0)
            return "is not valid UTF-8";
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            return "has a control character";
    }
    return NULL;
}

mw_status mw__name_check(const char *what, const char *name, mw_error *err)
{
    const char *fault = mw__name_fault(name);
    const size_t length = name != NULL ? strlen(name) : 0;
    if (length > MW_NAME_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the name \"%.60s\" has %zu bytes; a name has 1 to %d", what, name,
                        length, MW_NAME_MAX);
    if (length == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the name is empty; a name has 1 to %d bytes", what, MW_NAME_MAX);
    if (fault != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "%s: the name \"%.100s\" %s; a name that can be saved is UTF-8 without control characters",
                        what, name, fault);
    if (strcmp(name, "__metadata__") == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: safetensors files keep the name \"%s\" for themselves", what,
                        name);
    return MW_OK;
}
