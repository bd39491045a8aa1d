/* What a .hwx or .ane holds, as text or (--json) as JSON. */
#include <millwright/chip_all.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const bool json = argc == 3 && strcmp(argv[1], "--json") == 0;
    if (argc != 2 + json) {
        fprintf(stderr, "usage: inspect [--json] FILE.hwx\n");
        return 2;
    }
    mw_error err = {0};
    mw_hwx *hwx = mw_hwx_open(argv[1 + json], &err);
    char *text = json ? mw_hwx_json(hwx, &err) : mw_hwx_text(hwx, &err);
    if (text != NULL)
        fputs(text, stdout);
    else
        fprintf(stderr, "%s\n", err.message);
    mw_string_free(text);
    mw_hwx_destroy(hwx);
    return err.status != MW_OK;
}
