/* What the system tells. macOS tells energy only to root (powermetrics), so that it is left out there. */
#include "runtime/metrics/system.h"

#include "base/file/descriptor.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach/mach.h>
#include <sys/sysctl.h>
#endif

#define POWERCAP "/sys/class/powercap"

/* ---- memory and names ---- */

#ifdef __APPLE__

double mw__system_resident(void)
{
    mach_task_basic_info_data_t info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &count) != KERN_SUCCESS)
        return -1.0;
    return (double)info.resident_size;
}

const char *mw__system_processor(char *out, size_t size)
{
    if (sysctlbyname("machdep.cpu.brand_string", out, &size, NULL, 0) != 0)
        out[0] = '\0';
    return out;
}

#else

double mw__system_resident(void)
{
    long long pages = 0, resident = 0;
    FILE *file = mw__descriptor_stream("/proc/self/statm");
    const int found = file != NULL ? fscanf(file, "%lld %lld", &pages, &resident) : 0;
    if (file != NULL)
        fclose(file);
    return found == 2 ? (double)resident * (double)sysconf(_SC_PAGESIZE) : -1.0;
}

const char *mw__system_processor(char *out, size_t size)
{
    char line[256];
    FILE *file = mw__descriptor_stream("/proc/cpuinfo");
    out[0] = '\0';
    while (file != NULL && out[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        const char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (value != NULL)
            snprintf(out, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    if (file != NULL)
        fclose(file);
    return out;
}

#endif

const char *mw__system_name(char *out, size_t size)
{
    struct utsname name;
    out[0] = '\0';
    if (uname(&name) == 0)
        snprintf(out, size, "%.60s %.60s %.60s", name.sysname, name.release, name.machine);
    return out;
}

/* ---- energy ---- */

static bool read_number(const char *folder, int package, const char *name, double *out)
{
    char path[256];
    unsigned long long value = 0;
    snprintf(path, sizeof path, "%s/intel-rapl:%d/%s", folder, package, name);
    FILE *file = mw__descriptor_stream(path);
    const bool found = file != NULL && fscanf(file, "%llu", &value) == 1;
    if (file != NULL)
        fclose(file);
    *out = (double)value;
    return found;
}

/* "package-0"; "psys" is the whole machine, in which packages are counted. */
static bool is_package(const char *folder, int package)
{
    char path[256], name[32] = "";
    snprintf(path, sizeof path, "%s/intel-rapl:%d/name", folder, package);
    FILE *file = mw__descriptor_stream(path);
    const bool found = file != NULL && fgets(name, sizeof name, file) != NULL;
    if (file != NULL)
        fclose(file);
    return found && strncmp(name, "package", 7) == 0;
}

void mw__energy_begin_in(mw__energy *energy, const char *folder)
{
    *energy = (mw__energy){0};
    for (int i = 0; i < MW__PACKAGES_MAX; i++) {
        if (!is_package(folder, i) || !read_number(folder, i, "energy_uj", &energy->last[i]) ||
            !read_number(folder, i, "max_energy_range_uj", &energy->range[i]))
            return;
        energy->count++;
    }
}

double mw__energy_read_in(mw__energy *energy, const char *folder)
{
    for (int i = 0; i < energy->count; i++) {
        double now;
        if (!is_package(folder, i) || !read_number(folder, i, "energy_uj", &now))
            return -1.0;
        const double used = now - energy->last[i];
        energy->joules += 1e-6 * (used < 0.0 ? used + energy->range[i] : used);
        energy->last[i] = now;
    }
    return energy->count > 0 ? energy->joules : -1.0;
}

void mw__energy_begin(mw__energy *energy) { mw__energy_begin_in(energy, POWERCAP); }

double mw__energy_read(mw__energy *energy) { return mw__energy_read_in(energy, POWERCAP); }
