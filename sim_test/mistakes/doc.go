// Package mistakes holds ten requests with one mistake each, as they are made by
// who begins with verbs, who writes a proxy, and who writes a driver: a file each,
// one recorded case a file. Its test has `uverbsim explain` say what is wrong.
package mistakes
