# Writes OUT, a header with MW_ENGINE_BUILD: VERSION and the digest of the files in LIST and of FLAGS. Run at build time;
# a header that would be the same is left alone.
file(STRINGS ${LIST} files)
set(all "${FLAGS}")
foreach(path IN LISTS files)
    file(SHA256 ${path} digest)
    string(APPEND all ${digest})
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 16 digest)
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define MW_ENGINE_BUILD \"${VERSION}-${digest}\"\n")
