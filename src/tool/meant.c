#include "tool/meant.h"

#include "base/text/printable.h"
#include "tool/tool.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Entries of a folder that are compared: a folder may hold millions. */
enum { ENTRIES_MAX = 4096, PATH_BYTES = 4200 };

const char *meant_listed(char out[MEANT_BYTES], const char *typed, const char *list)
{
    mw__spelling spelling;
    mw__spelling_init(&spelling, typed);
    mw__spelling_offer_list(&spelling, list);
    return mw__spelling_hint(&spelling, "", out, MEANT_BYTES);
}

const char *meant_command(char out[MEANT_BYTES], const char *typed)
{
    mw__spelling spelling;
    mw__spelling_init(&spelling, typed);
    for (size_t i = 0; i < tool_command_count; i++)
        mw__spelling_offer(&spelling, tool_commands[i].name);
    mw__spelling_offer(&spelling, "help");
    return mw__spelling_hint(&spelling, "mw ", out, MEANT_BYTES);
}

/* ---- files ---- */

static bool is_missing(const char *path)
{
    struct stat entry;
    return stat(path, &entry) != 0 && errno == ENOENT;
}

/* The folder that a path lies in, with its slash; false if the path is too long. */
static bool find_folder(const char *path, char out[PATH_BYTES])
{
    const char *slash = strrchr(path, '/');
    const int length = snprintf(out, PATH_BYTES, "%.*s", slash != NULL ? (int)(slash - path + 1) : 0, path);
    return length >= 0 && length < PATH_BYTES;
}

static void offer_entries(mw__spelling *spelling, const char *folder)
{
    DIR *list = opendir(folder[0] != '\0' ? folder : ".");
    const struct dirent *entry;
    for (int i = 0; list != NULL && i < ENTRIES_MAX && (entry = readdir(list)) != NULL; i++)
        if (entry->d_name[0] != '.')
            mw__spelling_offer(spelling, entry->d_name);
    if (list != NULL)
        closedir(list);
}

/* The first part of the path that is not there, with what lies before it: "dta" of "dta/digits.csv". */
static void cut_missing(char *path)
{
    for (char *slash = strchr(path + 1, '/'); path[0] != '\0' && slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (is_missing(path))
            return;
        *slash = '/';
    }
}

const char *meant_file(char out[MEANT_BYTES], const char *path)
{
    char missing[PATH_BYTES], folder[PATH_BYTES];
    mw__spelling spelling;
    out[0] = '\0';
    if (!is_missing(path) || (size_t)snprintf(missing, sizeof missing, "%s", path) >= sizeof missing)
        return out;
    cut_missing(missing);
    if (!find_folder(missing, folder))
        return out;
    mw__spelling_init(&spelling, missing + strlen(folder));
    offer_entries(&spelling, folder);
    return mw__spelling_hint(&spelling, folder, out, MEANT_BYTES);
}

void meant_add_file(mw_error *err, const char *path)
{
    char hint[MEANT_BYTES], shown[sizeof err->message];
    const size_t used = strlen(err->message);
    const size_t size = mw__printable_printf(shown, sizeof shown, "\"%s\"", path); /* a word may be any text */
    if (size >= sizeof shown - 1 || err->status == MW_OK || strstr(err->message, shown) == NULL ||
        strstr(err->message, "did you mean") != NULL)
        return;
    mw__printable_printf(err->message + used, sizeof err->message - used, "%s", meant_file(hint, path));
}
