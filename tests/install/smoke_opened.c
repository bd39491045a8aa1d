/* The core alone; libmillwright_chip, the argument, is opened later, and the core that it finds is this one. */
#include <dlfcn.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

static bool names_registration(void)
{
    mw_error err = {0};
    mw_model_destroy(mw_model_open("/nonexistent/net.espresso.net", NULL, &err));
    return strstr(err.message, "mw_chip_register") != NULL;
}

int main(int argc, char **argv)
{
    void (*give)(void);
    if (!names_registration() || argc < 2)
        return 1;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void *address = library != NULL ? dlsym(library, "mw_chip_register") : NULL;
    if (address == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    memcpy(&give, &address, sizeof give); /* ISO C has no cast for this */
    give();
    return names_registration();
}
