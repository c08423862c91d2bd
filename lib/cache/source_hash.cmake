# Writes OUT: a C file with one hash of all sources of the planner (FILES, a file with a path per line, below ROOT), so
# that plans kept by one version of the program are no hits of another. The same sources give the same hash anywhere.
cmake_policy(VERSION 3.25)
file(STRINGS ${FILES} sources)
set(all "")
foreach(source ${sources})
  file(SHA256 ${source} hash)
  file(RELATIVE_PATH name ${ROOT} ${source})
  string(APPEND all "${hash} ${name}\n")
endforeach()
string(SHA256 hash "${all}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"cache/cache_entry.h\"\nconst char planner_sources[] = \"@hash@\";\n" @ONLY)
